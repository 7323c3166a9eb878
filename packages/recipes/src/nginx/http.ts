/**
 * What nginx works out about a request before any location is found; the same in every installation.
 *
 * @module
 */

import { HEADER } from './headers.ts';

/** Renders `http.conf`, which the site includes in `http {}`. */
export function renderHttp(): string {
  return HEADER + MAPS;
}

const MAPS = `# Included in http {}: variables about a request for the locations.

variables_hash_max_size 2048;
# Room for the names that are removed, each written out.
proxy_headers_hash_max_size 2048;
proxy_headers_hash_bucket_size 128;

include sallyport/cookies.conf;
include sallyport/verdict-cache*.conf;
include sallyport/upstream*.conf;

# A page load may be redirected; everything else is answered as a program. A caller can lie, and
# gains nothing: this chooses the shape of a refusal, never whether it is one.
map $http_accept $sallyport_accepts_page {
    default     program;
    ~text/html  page;
}
map $http_x_requested_with $sallyport_unscripted {
    default program;
    ""      $sallyport_accepts_page;
}
map $http_sec_fetch_mode $sallyport_navigates {
    default  program;
    navigate page;
    ""       $sallyport_unscripted;
}
map $http_upgrade $sallyport_no_upgrade {
    default program;
    ""      $sallyport_navigates;
}
map $request_method $sallyport_reader {
    default program;
    GET     $sallyport_no_upgrade;
    HEAD    $sallyport_no_upgrade;
}

# What a call is spoken in. gRPC is a POST over HTTP/2; what another ingress asks /me about a call has
# its content type, and is none. Connect and gRPC-Web are HTTP requests like any other, and get their
# refusals in their own words.
map $http_connect_protocol_version $sallyport_unary_protocol {
    default connect;
    ""      program;
}
map $http_content_type $sallyport_protocol {
    default $sallyport_typed_protocol;
    ""      $sallyport_unary_protocol;
}
map "$request_method $server_protocol $http_content_type" $sallyport_typed_protocol {
    default                                                     $sallyport_unary_protocol;
    "~*^POST HTTP/2[.]0 application/grpc(?:[+;]|$)"             grpc;
    "~*^[^ ]+ [^ ]+ application/grpc-web(?:-text)?(?:[+;]|$)"   grpc_web;
    "~*^[^ ]+ [^ ]+ application/connect[+]"                     connect;
    "~*^[^ ]+ [^ ]+ application/proto(?:;|$)"                   connect;
}
map $sallyport_protocol $sallyport_caller {
    default $sallyport_protocol;
    program $sallyport_reader;
}

# Segments of unreserved characters that end in something other than a dot: no backend can read such
# a path as another one. Looks at the path as it was sent, because so it is passed on.
map $request_uri $sallyport_plain_path {
    default "";
    "~^/(?:[A-Za-z0-9_.~-]*[A-Za-z0-9_~-](?:/[A-Za-z0-9_.~-]*[A-Za-z0-9_~-])*/?)?(?:[?]|$)" 1;
}

# A backend would cut such a path; looked at once for a request and the check of it.
map $request_uri $sallyport_cut_path {
    default "";
    "~#"    1;
}

# A service and its method; a query follows in no gRPC call.
map "$sallyport_protocol $request_uri" $sallyport_plain_rpc {
    default "";
    "~^grpc /[A-Za-z0-9_.]+/[A-Za-z0-9_]+$"                              1;
    "~^(?:program|connect|grpc_web) /[A-Za-z0-9_.]+/[A-Za-z0-9_]+(?:[?]|$)" 1;
}

# Only WebSocket is upgraded. An empty Connection keeps the connection to the backend.
map $http_upgrade $sallyport_upgrade {
    default    "";
    websocket  websocket;
}
map $sallyport_upgrade $sallyport_connection {
    default    "";
    websocket  upgrade;
}

# Not $request_id: to draw it takes a seventh of what a check costs nginx, and the id of a request
# may be predictable.
map $http_x_request_id $sallyport_request_id {
    default                      $msec-$pid-$connection-$connection_requests;
    "~^[A-Za-z0-9._-]{8,64}$"    $http_x_request_id;
}

# An answer that our cookie is added to.
map $sallyport_set_cookie $sallyport_unshared {
    default "private, no-store";
    ""      "";
}

# The check escapes the address to come back to, which nginx cannot do.
map $sallyport_location $sallyport_sign_in {
    default $sallyport_location;
    ""      $sallyport_public_scheme://$sallyport_public_host/login;
}
map $sallyport_retry_after $sallyport_wait {
    default                 5;
    "~^[1-9][0-9]{0,3}$"    $sallyport_retry_after;
}
`;
