/**
 * The embedded IdP in a process of its own, on a socket that only its test knows.
 *
 * A process, so that a moved clock can move it: the provider's library asks `Date` and takes no other.
 *
 * @module
 */

import { createServer } from 'node:http';
// oxlint-disable-next-line no-restricted-imports -- here it is the peer, not what is tested
import { createEmbeddedIdp, type EmbeddedIdpOptions } from '@sallyport/idp';

const [socket = '', settings = '{}'] = process.argv.slice(2);
const idp = await createEmbeddedIdp({
  ...(JSON.parse(settings) as Omit<EmbeddedIdpOptions, 'log'>),
  log: (event, fields) => console.error(event, JSON.stringify(fields)),
});
createServer(idp.handler).listen(socket, () => console.log('ready'));
// The process that started it holds the other end: it does not outlive a test that was killed.
process.stdin.on('end', () => process.exit());
process.stdin.resume();
