// @module-tag all
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { author, APPROVE_ALL, commits, objective, piece, plan } from '../../runs/run-script.ts';
import { openEngineRoom } from '../../support/engine.ts';
import { eventually, NO_TMUX, openTmuxRoom } from '../../support/tmux.ts';
import { stateOf } from '../../support/state.ts';

const KEY = 'k3y-0f-the-person-who-opened-it';

describe.skipIf(NO_TMUX !== undefined)(
  `the environment of a team’s panes${NO_TMUX === undefined ? '' : ` (skipped: ${NO_TMUX})`}`,
  () => {
    it(
      'is what its runtimes may have, in a tmux that is older, and on no command line',
      { timeout: 300_000 },
      async () => {
        const room = openEngineRoom({ 'objective.md': objective() });
        const terminal = openTmuxRoom();
        onTestFinished(() => {
          terminal.close();
          room.close();
        });
        // A server that was started without the variable, as the one that a person has been in for days.
        terminal.tmux('outer', 'new-session', '-d', '-s', 'outer', '-x', '200', '-y', '50', 'sleep 600');
        const socket = terminal.tmux('outer', 'display-message', '-p', '#{socket_path},#{pid},0').trim();
        const told = join(room.root, 'told-to-tmux');
        const shims = join(room.root, 'shims');
        const seen = join(room.root, 'seen');
        mkdirSync(shims);
        const real = execFileSync('/bin/sh', ['-c', 'command -v tmux'], { encoding: 'utf8' }).trim();
        writeFileSync(join(shims, 'tmux'), `#!/bin/sh\nprintf '%s\\n' "$@" >> '${told}'\nexec '${real}' "$@"\n`);
        chmodSync(join(shims, 'tmux'), 0o755);
        const tell = { run: ['/bin/sh', '-c', `printf '%s %s\\n' "$TEAM_KEY" "$OTHER_KEY" >> '${seen}'`] };
        const script = room.script({
          turns: [plan([piece('a')]), author('a', [tell, ...commits({ 'a.txt': 'a\n' })]), APPROVE_ALL],
        });
        const runtimes = { scripted: { config: { script }, env: ['TEAM_KEY'] } };
        writeFileSync(join(room.repository, 'squad.yaml'), stringify({ version: 1, playbook: 'delivery', runtimes }));
        const opened = await room.run(['team', 'objective.md', '--runtime', 'scripted', '--yes', '--detach'], {
          ...terminal.environment,
          HOME: room.root,
          PATH: `${shims}:${terminal.environment['PATH'] ?? ''}`,
          TMUX: socket,
          TEAM_KEY: KEY,
          OTHER_KEY: 'not-named-in-the-settings',
        });
        expect(opened, opened.stderr).toMatchObject({ code: 0 });
        const shown = await eventually('the turn', () => readIf(seen), 60);
        expect(shown).toBe(`${KEY} \n`);
        expect(readFileSync(told, 'utf8')).toMatch(/team\nengine\n--ticket\n/);
        expect(readFileSync(told, 'utf8')).not.toContain(KEY);
        // Each ticket is gone once it was read.
        expect(readdirSync(join(stateOf(room.repository), 'panes'))).toEqual([]);
        const isOver = async (): Promise<true | undefined> => {
          const { lines } = await room.run(['status', '--json']);
          return lines[0]?.['outcome'] === 'done' ? true : undefined;
        };
        await eventually('the end', isOver, 60);
        await room.run(['team', '--close'], { ...terminal.environment, HOME: room.root, TMUX: socket });
      },
    );
  },
);

function readIf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8') || undefined;
  } catch {
    // The turn has not begun.
    return undefined;
  }
}
