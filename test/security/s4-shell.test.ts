import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import type { TurnRequest } from '../../src/model/turn-request.ts';
import { openLaunchRoom, type LaunchRoom } from './launches.ts';

/** What a shell, cmd.exe, TOML, JSON or printf would read in another way. No NUL: no argument can hold one. */
const CORPUS = [
  '$(touch MARK)',
  '`touch MARK`',
  '; touch MARK',
  '| touch MARK',
  '& touch MARK',
  '&& touch MARK',
  '|| touch MARK',
  '\ntouch MARK\n',
  '> MARK',
  '< /etc/passwd',
  '${IFS}touch${IFS}MARK',
  "'; touch MARK; '",
  '"; touch MARK; "',
  '\\',
  '\\\\',
  "'",
  '"',
  '"""',
  "'''",
  '%PATH%',
  '!!',
  '^&',
  '*',
  '?',
  '[a-z]',
  '{a,b}',
  '~',
  '#',
  '\t',
  '\r\n',
  '%s%n',
  '\u202e',
  '\u200b',
  '😀',
  'é',
  '\u001b[31m',
  '$((1+1))',
  '<(id)',
  '=cmd',
  '\u0007',
  '--',
  '-',
];
const ALL = CORPUS.join(' ');

let room: LaunchRoom;
afterEach(() => {
  const marks = readdirSync(room.root, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.split('/').at(-1) === 'MARK',
  );
  room.close();
  expect(marks).toEqual([]);
});

describe('S4: no shell', () => {
  it('S4: nothing in src asks a shell to parse a line, but checks', () => {
    room = openLaunchRoom();
    const source = fileURLToPath(new URL('../../src', import.meta.url));
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.(?:ts|mjs|cjs)$/.test(name),
    );
    const has = (pattern: RegExp): string[] =>
      files.filter((name) => pattern.test(readFileSync(join(source, name), 'utf8')));
    expect(has(/\bshell:\s*true|\bexecSync\(|(?<![.\w])exec\(|\beval\(|new Function\(/)).toEqual([]);
    // The wrapper's own text; checks, `notify`, `from` of a schedule, actions and `sprint.discovery` in the settings, which are shown and agreed to first;
    // the person's own editor; names of shells that completion is written for; and fixed lines: one tries out namespaces, one takes a pane's folder and
    // command as arguments, one exits with a number, and some start a cage, MCP servers and hooks, whose commands they take as arguments too. A hook’s own line is
    // agreed to first. Two only name the shell, in the table of programs.
    expect(has(/['"`]\/bin\/(?:ba|da|z)?sh['"`]|['"`](?:ba|da|z)sh['"`]/).toSorted()).toEqual([
      'cli/ask/edit-plan.ts',
      'cli/completion/scripts.ts',
      'cli/main.ts',
      'cli/program.ts',
      'engine/armory.ts',
      'engine/checks/command-adapter.ts',
      'engine/checks/notify-command.ts',
      'model/programs.ts',
      'runtimes/shared/bubblewrap.ts',
      'runtimes/shared/outside-servers.ts',
      'runtimes/shared/seatbelt.ts',
      'squad/people/run-action.ts',
      'squad/preflight/programs-here.ts',
      'squad/service/submit-slot.ts',
      'squad/team/run-discovery.ts',
      'substrate/system/process/isolation.ts',
      'substrate/system/process/spawn-turn.ts',
      'substrate/system/process/start-apart.ts',
      'substrate/system/terminal/tmux.ts',
    ]);
  });
});

describe('S4: metacharacters reach the program byte for byte', () => {
  const fields: Partial<TurnRequest> = {
    prompt: `Prompt ${ALL}`,
    instructions: `Instructions ${ALL}`,
    model: `m${ALL}`,
    outputSchema: { type: 'object', title: ALL },
  };

  it('S4: claude', async () => {
    room = openLaunchRoom(`tree $(touch MARK) '";`);
    await room.run('claude', {
      ...fields,
      access: { level: 'edit', writable: [`/more ${ALL.replaceAll('/', ':')}`] },
      toolRules: { allow: [`Bash(${ALL})`], deny: [`Read(${ALL})`] },
      mcp: [
        {
          name: 'desk',
          transport: {
            type: 'stdio',
            command: ALL.replaceAll('${', '$'),
            args: [],
            env: { A: ALL.replaceAll('${', '$') },
          },
        },
      ],
    });
    const [launch] = room.launches();
    expect(launch?.stdin).toBe(fields.prompt);
    expect(launch?.cwd).toBe(room.workspace);
    expect(launch?.args).toEqual(
      expect.arrayContaining([
        `--model=${fields.model}`,
        `--json-schema=${JSON.stringify(fields.outputSchema)}`,
        `--add-dir=/more ${ALL.replaceAll('/', ':')}`,
        `--allowedTools=Bash(${ALL})`,
        `--disallowedTools=Read(${ALL})`,
      ]),
    );
    expect(readFileSync(join(room.turn, '1', 'instructions.md'), 'utf8')).toBe(fields.instructions);
    expectNoPrompt(launch?.args);
  });

  it('S4: codex', async () => {
    room = openLaunchRoom(`tree $(touch MARK) '";`);
    await room.run('codex', fields);
    const [launch] = room.launches();
    expect(launch?.stdin).toBe(fields.prompt);
    expect(launch?.cwd).toBe(room.workspace);
    expect(launch?.args).toContain(room.workspace);
    const value = (name: string): unknown => {
      const found = launch?.args.find((arg) => arg.startsWith(`${name}=`)) ?? '';
      // A basic string of TOML is one of JSON, but for the escapes that JSON does not need.
      return JSON.parse(
        found
          .slice(name.length + 1)
          .replaceAll(/\\U0{3}([0-9a-fA-F]{5})/g, (_all, code: string) =>
            String.fromCodePoint(Number.parseInt(code, 16)),
          ),
      );
    };
    expect(value('model')).toBe(fields.model);
    expect(String(value('developer_instructions')).startsWith(String(fields.instructions))).toBe(true);
    expectNoPrompt(launch?.args);
  });

  // Where the beginning decides.
  const BEGINNINGS = CORPUS.filter((text) => /^[-#!\\=\n$~@]/.test(text));

  it.each(BEGINNINGS.map((text) => [JSON.stringify(text), text]))(
    'S4: a prompt that is only %s',
    async (_title, text) => {
      room = openLaunchRoom();
      for (const runtime of ['claude', 'codex'] as const) {
        await room.run(runtime, { prompt: text });
        expect(room.launches().at(-1)?.stdin).toBe(text);
      }
    },
  );
});

function expectNoPrompt(args: readonly string[] | undefined): void {
  expect(args?.length).toBeGreaterThan(5);
  expect(args?.filter((arg) => arg.includes('Prompt '))).toEqual([]);
}
