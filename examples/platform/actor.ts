/**
 * The process of an actor: it is told by its parent which one it is, and ends with it.
 *
 * @module
 */

import type { StartActor } from './messages.ts';
import { runActor } from './run-actor.ts';

// Ctrl-C reaches every process of a terminal; the parent ends this one in its turn.
process.on('SIGINT', () => {});
process.once('disconnect', () => process.exit());
process.once('message', (start: StartActor) => void runActor(start));
