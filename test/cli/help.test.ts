import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { allCommands, commandsPage, examplesOf, PAGE, pathOf, shownCommands } from '../../scripts/commands-docs.ts';
import { roomForTest } from './room.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

describe('the help', () => {
  it('is what docs/commands.md says (npm run commands)', async () => {
    expect(readFileSync(join(ROOT, PAGE), 'utf8')).toBe(await commandsPage());
  });

  it('has an example of each command, that names the command', async () => {
    const without = shownCommands(await allCommands()).filter(
      (command) => !examplesOf(command).some((line) => line.includes(pathOf(command))),
    );
    expect(without.map(pathOf)).toEqual([]);
  });

  it('names each command in one group, without those that squad starts itself', async () => {
    const { stdout } = await roomForTest().run(['--help']);
    const program = await allCommands();
    for (const command of program.commands) {
      const isHidden = ['mcp', 'complete', 'receive'].includes(command.name());
      const count = [...stdout.matchAll(new RegExp(`^  ${command.name()}(?: |$)`, 'gm'))].length;
      expect([command.name(), count]).toEqual([command.name(), isHidden ? 0 : 1]);
    }
  });

  it('is coloured where the stream shows it, and plain elsewhere', async () => {
    const room = roomForTest();
    const coloured = await room.run(['status', '--help'], { FORCE_COLOR: '1' });
    expect(coloured.stdout).toContain('\u001b[1mExample:\u001b[22m\n  squad status');
    const plain = await room.run(['status', '--help'], { NO_COLOR: '1' });
    expect(plain.stdout).not.toContain('\u001b');
  });
});
