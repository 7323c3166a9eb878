import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTokens, KEY } from '@sallyport/testing/client/tokens';
import { testTokenStore } from '@sallyport/testing/store-contracts/token-store-contract';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Keyring } from '../../packages/client/src/store/keyring.ts';
import { createKeyringTokenStore } from '../../packages/client/src/store/keyring-token-store.ts';
import { createOsKeyring } from '../../packages/client/src/store/os-keyring.ts';
import { selectTokenStore } from '../../packages/client/src/store/select-token-store.ts';
import { findPart, requirePart } from '../parts.ts';
import { type SecretService, startSecretService } from './secret-service.ts';

const BUS = findPart('dbus-daemon');
const DAEMON = findPart('gnome-keyring-daemon');

/** The daemon ends now and then by a failed assertion of its own; a test it left in the middle runs again. */
const DAEMON_ENDED = { count: 2, condition: /disconnected from message bus|no result found/ };

const isLeftOut = BUS.isLeftOut || DAEMON.isLeftOut;
describe.skipIf(isLeftOut)('A Secret Service of the desktop', { retry: DAEMON_ENDED }, () => {
  let service: SecretService;
  const address = process.env['DBUS_SESSION_BUS_ADDRESS'];
  beforeAll(async () => {
    service = await startSecretService(requirePart(BUS), requirePart(DAEMON));
    process.env['DBUS_SESSION_BUS_ADDRESS'] = service.busAddress;
  });
  beforeEach(() => service.recover());
  afterAll(async () => {
    if (address === undefined) delete process.env['DBUS_SESSION_BUS_ADDRESS'];
    else process.env['DBUS_SESSION_BUS_ADDRESS'] = address;
    await service.stop();
  });

  testTokenStore('the real keyring', () => {
    const folder = temporaryFolder();
    const keyring = openKeyring();
    const own = withOwnAccounts(keyring);
    return { open: () => createKeyringTokenStore({ keyring: own, folder }) };
  });

  it('is what "auto" chooses, and nothing goes to a file', async () => {
    const folder = temporaryFolder();
    const store = await selectTokenStore('auto', {
      folder,
      notice: () => {},
      keyring: openKeyring(),
    });
    expect(store.kind).toBe('keyring');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('without a bus "auto" falls back to a file, and says so once tokens are kept', async () => {
    process.env['DBUS_SESSION_BUS_ADDRESS'] = 'unix:path=/nonexistent';
    onTestFinished(() => {
      process.env['DBUS_SESSION_BUS_ADDRESS'] = service.busAddress;
    });
    const notices: unknown[] = [];
    const store = await selectTokenStore('auto', {
      folder: join(temporaryFolder(), 'tokens'),
      notice: (notice) => notices.push(notice),
      keyring: openKeyring(),
    });
    expect(store.kind).toBe('file');
    await store.write(KEY, createTokens('1'));
    expect(notices).toHaveLength(1);
  });
});

function openKeyring(): Keyring {
  const keyring = createOsKeyring();
  onTestFinished(() => keyring.close());
  return keyring;
}

/** The keyring is one for all tests; each gets accounts of its own. */
function withOwnAccounts(keyring: Keyring): Keyring {
  const prefix = randomUUID();
  return {
    ...keyring,
    read: (account) => keyring.read(prefix + account),
    write: (account, value) => keyring.write(prefix + account, value),
    remove: (account) => keyring.remove(prefix + account),
  };
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-keyring-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
