import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Home, makeHome } from './command.ts';
import { type FakePlatform, startFakePlatform } from './fake-platform.ts';
import { hasTerminal, type OnTerminal, startOnTerminal } from './screen.ts';

const CTRL_C = '\u0003';
const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const FRAME = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/;
const SUMMARY = /\d+ faults?, \d+ warnings?; \d+ checks? passed, \d+ skipped\.$/;

describe.skipIf(!hasTerminal())(
  "sallyport doctor on a terminal (needs util-linux's script)",
  () => {
    let home: Home;
    let platform: FakePlatform;
    beforeEach(async () => {
      home = makeHome();
      platform = await startFakePlatform();
    });
    afterEach(async () => {
      await platform.close();
      home.remove();
    });

    /** What it wrote once the line of progress was gone; the cursor is shown again by then. */
    function afterProgress(terminal: OnTerminal): string {
      const raw = terminal.raw();
      expect(raw).toContain(HIDE_CURSOR);
      const end = raw.lastIndexOf(SHOW_CURSOR);
      expect(end).toBeGreaterThan(raw.lastIndexOf(HIDE_CURSOR));
      return raw.slice(end + SHOW_CURSOR.length);
    }

    it('shows what it looks at, and ends with its report: nothing of the progress is left, and nothing follows', async () => {
      const terminal = startOnTerminal(home, ['doctor', platform.url, '--skip', 'machine']);
      const { code, screen } = await terminal.ended;
      expect(code).toBe(1);
      expect(terminal.raw()).toMatch(FRAME);
      expect(screen).not.toMatch(FRAME);
      const report = afterProgress(terminal);
      expect(report).toMatch(/^FAIL {2}/);
      expect(report).not.toContain('\u001b');
      expect(report.endsWith('\r\n')).toBe(true);
      expect(report.endsWith('\r\n\r\n')).toBe(false);
      // The last paragraph is the summary, broken at the width of the terminal.
      const last = report.trimEnd().split('\r\n\r\n').at(-1) ?? '';
      expect(last.replaceAll('\r\n', ' ')).toMatch(SUMMARY);
    });

    it('as JSON writes the object and no progress', async () => {
      const args = ['doctor', platform.url, '--skip', 'machine', '--json'];
      const terminal = startOnTerminal(home, args);
      const { code } = await terminal.ended;
      expect(code).toBe(1);
      const [line = '', ...rest] = terminal.raw().split('\r\n');
      expect(JSON.parse(line)).toMatchObject({ version: 1, ok: false });
      expect(rest).toEqual(['']);
    });

    it('ends at Ctrl-C while it waits for a server, with a tidy screen', async () => {
      const server = createServer(() => {});
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => {
        server.closeAllConnections();
        server.close();
      });
      const { port } = server.address() as AddressInfo;
      const url = `http://127.0.0.1:${port}`;
      const terminal = startOnTerminal(home, ['doctor', url, '--skip', 'machine']);
      await terminal.shows("an answer of the platform's");
      terminal.type(CTRL_C);
      const { code, screen } = await terminal.ended;
      expect(code).toBe(130);
      expect(screen).not.toMatch(FRAME);
      expect(afterProgress(terminal)).toBe('sallyport: interrupted\r\n');
    });
  },
);
