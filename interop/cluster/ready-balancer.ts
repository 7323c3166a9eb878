/**
 * What a Service does for the pods behind it: new connections go to those that are ready, and open ones stay where they are.
 *
 * @module
 */

import { get } from 'node:https';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A balancer that listens. */
export interface ReadyBalancer {
  readonly port: number;
  /** Ports that new connections go to. */
  ready(): readonly number[];
  close(): void;
}

/** Kubernetes looks every two seconds, as the chart has it, and takes a moment more to act on it. */
const LOOK_EVERY_MS = 200;

/** @param ports - Of this machine, with TLS and `/readyz`. */
export async function startReadyBalancer(ports: readonly number[]): Promise<ReadyBalancer> {
  let ready = ports;
  let turn = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const port = ready[turn % ready.length];
    turn += 1;
    if (port === undefined) {
      client.destroy();
      return;
    }
    const target = connect(port, '127.0.0.1');
    for (const [one, other] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.once('close', () => {
        sockets.delete(one);
        other.destroySoon();
      });
      one.pipe(other);
    }
  });
  const look = async (): Promise<void> => {
    const answers = await Promise.all(ports.map((port) => isReady(port)));
    ready = ports.filter((_, index) => answers[index]);
  };
  const looking = setInterval(() => void look(), LOOK_EVERY_MS);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    ready: () => ready,
    close() {
      clearInterval(looking);
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Its certificate is not verified, as probes of the kubelet do not. */
function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, path: '/readyz', rejectUnauthorized: false };
    get({ ...options, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    }).once('error', () => resolve(false));
  });
}
