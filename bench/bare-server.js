/**
 * Bare node:http that answers given bytes to everything: what any check in Node is measured against.
 * Started as `node bare-server.js`, with the answer as JSON on standard input.
 */

import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const { status, headers, body } = JSON.parse(await text(process.stdin));
const server = createServer((_, res) => {
  res.writeHead(status, headers);
  res.end(body);
});
// As many may wait as at the service: what is measured begins behind that.
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () =>
  console.log(`ready http://127.0.0.1:${server.address().port}`),
);
