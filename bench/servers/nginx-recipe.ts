/**
 * The nginx configurations that are compared: the recipe of deploy/nginx, and the one oauth2-proxy documents.
 *
 * @module
 */

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PUBLIC_URL } from './sallyport.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const RECIPE = join(ROOT, 'deploy', 'nginx');
const COMMAND = join(ROOT, 'packages', 'cli', 'bin', 'sallyport.js');
const PUBLIC_HOST = new URL(PUBLIC_URL).host;
const FOLDER = 'sallyport';
const VERDICTS = 'verdicts';

/** Copies the recipe as it is in the checkout into an nginx's folder. */
export function copyRecipe(folder: string): void {
  cpSync(join(RECIPE, 'sallyport'), join(folder, FOLDER), { recursive: true });
}

/** Generates the recipe that keeps verdicts for a moment, as deploy/nginx/README.md has it. */
export function generateCachingRecipe(folder: string): void {
  copyRecipe(folder);
  mkdirSync(join(folder, VERDICTS));
  const verdicts = ['--verdict-cache', '--verdict-folder', join(folder, VERDICTS)];
  execFileSync(process.execPath, [
    ...[COMMAND, 'recipe', 'nginx', '--overwrite', '--out', join(folder, FOLDER), ...verdicts],
  ]);
}

/**
 * The recipe with content of nginx' own behind the check, and a backend on all other routes.
 *
 * @param admin - Address of `sallyport serve`.
 * @param backend - Address of the console; without one, it is down.
 */
export function recipeServer(port: number, admin: string, backend?: string): string {
  const site = readFileSync(join(RECIPE, 'site.conf'), 'utf8');
  const names = [...site.matchAll(/^upstream (sallyport_[a-z_]+)/gm)].map(([, name = '']) => name);
  const upstreams = names.map((name) => upstream(name, addressOf(name, admin, backend)));
  return `  include sallyport/http.conf;
${upstreams.join('')}  server {
    listen 127.0.0.1:${port};
    set $sallyport_public_scheme http;
    set $sallyport_public_host ${PUBLIC_HOST};
    include sallyport/routes.conf;
    location = /content.json {
      include sallyport/http-only.conf;
      include sallyport/protected-none.conf;
      root content;
    }
  }`;
}

function addressOf(name: string, admin: string, backend: string | undefined): string {
  if (name === 'sallyport_admin' || name === 'sallyport_admin_grpc') return admin;
  return name === 'sallyport_console' && backend !== undefined ? backend : '127.0.0.1:1 down';
}

/** As in site.conf. */
function upstream(name: string, address: string): string {
  return `  upstream ${name} { server ${address}; keepalive 64; keepalive_timeout 60s; }\n`;
}

/** The same content without any check. */
export function openServer(port: number): string {
  return `  server {
    listen 127.0.0.1:${port};
    location = /content.json { root content; }
  }`;
}

/**
 * The same content behind oauth2-proxy, as its documentation has it for nginx; over connections that stay
 * open, which the documentation leaves out.
 *
 * @param proxy - Its address.
 * @see [Configuring for use with the Nginx auth_request directive](https://oauth2-proxy.github.io/oauth2-proxy/configuration/integration/)
 */
export function peerServer(port: number, proxy: string): string {
  return `  upstream proxy { server ${proxy}; keepalive 64; keepalive_timeout 60s; }
  server {
    listen 127.0.0.1:${port};
    proxy_http_version 1.1;
    location /oauth2/ {
      proxy_pass http://proxy;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Real-IP $remote_addr;
      proxy_set_header X-Auth-Request-Redirect $request_uri;
    }
    location = /oauth2/auth {
      proxy_pass http://proxy;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Real-IP $remote_addr;
      proxy_set_header X-Forwarded-Uri $request_uri;
      # nginx auth_request includes headers but not body
      proxy_set_header Content-Length "";
      proxy_pass_request_body off;
    }
    location = /content.json {
      auth_request /oauth2/auth;
      error_page 401 = /oauth2/sign_in;
      auth_request_set $user $upstream_http_x_auth_request_user;
      auth_request_set $email $upstream_http_x_auth_request_email;
      proxy_set_header X-User $user;
      proxy_set_header X-Email $email;
      auth_request_set $auth_cookie $upstream_http_set_cookie;
      add_header Set-Cookie $auth_cookie;
      root content;
    }
  }`;
}

/** A backend that answers a small JSON, for both ways of being in front of it. */
export function backendServer(port: number): string {
  return `  server {
    listen 127.0.0.1:${port};
    keepalive_timeout 600s;
    location / {
      default_type application/json;
      return 200 '{"content":"${'x'.repeat(80)}"}';
    }
  }`;
}
