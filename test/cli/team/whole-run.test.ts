// @module-tag all
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { COUNCIL_AGENTS, COUNCIL_FILES, COUNCIL_OBJECTIVE, councilScript } from '../../runs/council-script.ts';
import { openEngineRoom } from '../../support/engine.ts';
import { eventually, NO_TMUX, openTmuxRoom } from '../../support/tmux.ts';

describe.skipIf(NO_TMUX !== undefined)(`squad team${NO_TMUX === undefined ? '' : ` (skipped: ${NO_TMUX})`}`, () => {
  it('starts a council in a pane of its own, and shows it to its end', { timeout: 300_000 }, async () => {
    const room = openEngineRoom({ ...COUNCIL_FILES, 'objective.md': COUNCIL_OBJECTIVE });
    const terminal = openTmuxRoom();
    onTestFinished(() => {
      terminal.close();
      room.close();
    });
    const script = room.script({ turns: councilScript() });
    const settings = { version: 1, agents: COUNCIL_AGENTS, runtimes: { scripted: { config: { script } } } };
    // No playbook: a team that nobody chose one for is a council.
    writeFileSync(join(room.repository, 'squad.yaml'), stringify(settings));

    const refused = await room.run(['team', 'objective.md', '--detach'], terminal.environment);
    expect(refused).toMatchObject({ code: 78, stderr: expect.stringContaining('--yes') as string });
    expect(terminal.sockets()).toEqual([]);

    const opened = await room.run(['team', 'objective.md', '--yes', '--detach'], {
      ...terminal.environment,
      HOME: room.root,
    });
    expect(opened).toMatchObject({ code: 0, stderr: '' });
    expect(opened.stdout).toContain('make-things: panes for MAIN, A, B, C.\n');
    const [socket = ''] = terminal.sockets();
    const panes = terminal.tmux(socket, 'list-panes', '-s', '-F', '#{pane_title}').trim().split('\n');
    expect(panes.map((title) => title.replace(/^team-(?:[0-9a-f]{8}-)?(\w+).*$/, '$1'))).toEqual([
      'engine',
      'MAIN',
      'A',
      'B',
      'C',
    ]);
    const screen = (pane: number): string => terminal.screen(socket, `:.${pane}`);
    const shows = async (pane: number, text: string, seconds = 30): Promise<void> => {
      await eventually(
        `${text} in pane ${pane}`,
        () => (screen(pane).includes(text) ? true : undefined),
        seconds,
      ).catch((error: unknown) => expect(`${String(error)}\n${screen(pane)}`).toBe('seen'));
    };

    await shows(0, 'tab transcripts');
    await shows(0, 'DONE, all work is delivered', 120);
    await shows(1, 'completed after');
    await shows(1, 'mail  →   from:MAIN | ask/review');
    await shows(3, 'mail  ←   from:MAIN | ask/assign');
    await shows(3, 'turn      execute-1-1');
    expect(screen(2)).not.toContain('ask/assign');
    expect((await room.run(['team', '--close'], terminal.environment)).code).toBe(0);
  });
});
