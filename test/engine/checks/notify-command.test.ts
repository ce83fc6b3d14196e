import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runNotifyCommand } from '../../../src/engine/checks/notify-command.ts';
import { createSystemClock } from '../../../src/substrate/system/clock/system-clock.ts';
import { createSystemProcesses } from '../../../src/substrate/system/process/system-processes.ts';

function notify(command: string, text: string) {
  const cwd = mkdtempSync(join(tmpdir(), 'squad-notify-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const processes = createSystemProcesses({ clock: createSystemClock() });
  const environment = { PATH: process.env['PATH'], HOME: cwd, OTHER_SECRET: 'x', DISPLAY: ':1' };
  const about = { run: 'my-run', what: 'question', text };
  return { cwd, done: runNotifyCommand({ processes, environment }, { command, cwd }, about) };
}

describe('the command of notify', () => {
  it('gets what happened in its environment, and no variable that is not meant for it', async () => {
    const { cwd, done } = notify('env > seen', 'squad asks: Which one?');
    expect(await done).toBeUndefined();
    const seen = readFileSync(join(cwd, 'seen'), 'utf8');
    for (const line of [
      'SQUAD_RUN=my-run',
      'SQUAD_EVENT=question',
      'SQUAD_TEXT=squad asks: Which one?',
      'DISPLAY=:1',
    ]) {
      expect(seen.split('\n')).toContain(line);
    }
    expect(seen).not.toContain('OTHER_SECRET');
  });

  it('runs nothing that a text names, whatever it holds', async () => {
    const text = '"; touch one; $(touch two) `touch three` \u001b]0;title\u0007\n&& touch four #';
    const { cwd, done } = notify('printf %s "$SQUAD_TEXT" > seen', text);
    expect(await done).toBeUndefined();
    for (const name of ['one', 'two', 'three', 'four']) expect(existsSync(join(cwd, name))).toBe(false);
    expect(readFileSync(join(cwd, 'seen'), 'utf8')).toBe('"; touch one; $(touch two) `touch three` && touch four #');
  });

  it('says why it failed', async () => {
    expect(await notify('echo no display >&2; exit 3', 'x').done).toBe('it exited with 3: no display');
  });
});
