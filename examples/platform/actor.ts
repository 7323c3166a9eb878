/**
 * The process of an actor: the first message of its parent names the actor, and it ends with its parent.
 *
 * @module
 */

import type { StartActor } from './messages.ts';
import { runActor } from './run-actor.ts';

// Ctrl-C reaches every process of a terminal; the parent ends this one in its turn.
process.on('SIGINT', () => {});
process.once('disconnect', () => process.exit());
process.once('message', (start: StartActor) => void runActor(start));
