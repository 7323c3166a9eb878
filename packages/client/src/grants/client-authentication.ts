/**
 * How a client says who it is at the token endpoint.
 *
 * @module
 */

/** Adds what proves the client to a request. */
export type ClientAuthentication = (body: URLSearchParams, headers: Headers) => void;

/** A public client: its id, no proof (RFC 6749 section 3.2.1). */
export function publicClient(clientId: string): ClientAuthentication {
  return (body) => body.set('client_id', clientId);
}

/** HTTP Basic, both halves form-encoded first (RFC 6749 section 2.3.1 and appendix B). */
export function clientSecretBasic(clientId: string, clientSecret: string): ClientAuthentication {
  return (_, headers) => {
    const pair = `${formEncode(clientId)}:${formEncode(clientSecret)}`;
    headers.set('authorization', `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`);
  };
}

/** Id and secret in the body (RFC 6749 section 2.3.1). */
export function clientSecretPost(clientId: string, clientSecret: string): ClientAuthentication {
  return (body) => {
    body.set('client_id', clientId);
    body.set('client_secret', clientSecret);
  };
}

/**
 * A signed assertion of an issuer that the server trusts (RFC 7523 section 2.2).
 *
 * @param clientId - Empty leaves it out: the assertion's subject is then the client.
 */
export function jwtBearerAssertion(clientId: string, assertion: string): ClientAuthentication {
  return (body) => {
    if (clientId !== '') body.set('client_id', clientId);
    body.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
    body.set('client_assertion', assertion);
  };
}

/** As forms are encoded: a blank is `+`, and letters, digits and `*-._` stay. */
export function formEncode(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}
