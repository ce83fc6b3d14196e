import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { PAGE, withPrograms } from '../../scripts/programs-docs.ts';
import { PROGRAMS, type ProgramKind } from '../../src/model/programs.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SOURCE = join(ROOT, 'src');

/** The files that start a process by Node or by execa, with the rows of what they start; elsewhere the type asks for a row. */
const STARTS: Readonly<Record<string, readonly ProgramKind[]>> = {
  // The caller names the row.
  'substrate/system/process/conversation.ts': [],
  'substrate/system/process/run-child.mjs': [],
  'substrate/system/process/helper-host.mjs': [],
  'substrate/system/process/run-in-terminal.ts': [],
  'substrate/system/process/start-detached.ts': ['squad'],
  'substrate/system/process/start-attached.ts': ['squad'],
  'substrate/system/process/run-helper.ts': ['helper-host'],
  'substrate/system/process/run-pager.ts': ['pager'],
  'substrate/system/process/isolation.ts': ['namespace'],
  'substrate/system/process/ps-source.ts': ['process-table'],
  // What it wraps is the command of a runtime or of a check.
  'substrate/system/process/spawn-turn.ts': ['turn-wrapper', 'namespace', 'agent', 'acp-host', 'check'],
  'substrate/system/process/mcp-by-http.ts': ['mcp-server'],
  'substrate/system/process/call-over-ssh.ts': ['ssh'],
  'cli/main.ts': ['end'],
  'runtimes/acp/host/main.ts': ['acp-agent'],
  'runtimes/in-process/stand-in.mjs': ['mcp-server', 'mail-server'],
  // An agent that plays a script.
  'runtimes/scripted/player.mjs': ['agents-own'],
};
/** Started by programs of the table, and not by squad. */
const BY_OTHERS: readonly ProgramKind[] = [
  'git-part',
  'git-login',
  'agents-own',
  'mail-server',
  'mcp-server',
  'hook',
  'apart',
];

const sources = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((name) => /\.(ts|mjs)$/.test(name) && !name.endsWith('.d.mts'))
  .map((name) => ({ name, text: readFileSync(join(SOURCE, name), 'utf8') }));

describe('the table of programs', () => {
  it('has a row for whatever starts a process', () => {
    const starting = sources.filter(
      ({ text }) =>
        /^import \{(?! type ChildProcess \}).*\} from 'node:child_process'/m.test(text) ||
        /\brunChild\(|\bfrom 'execa'|\bimport\('execa'\)|\bprocess\.execve\b/.test(text),
    );
    const unknown = starting.filter(({ name }) => STARTS[name] === undefined);
    expect(unknown.map(({ name }) => name)).toEqual([]);
    const gone = Object.keys(STARTS).filter((name) => !starting.some((file) => file.name === name));
    expect(gone).toEqual([]);
  });

  it('has no row that nothing starts', () => {
    const labelled = sources.flatMap(({ text }) =>
      [...text.matchAll(/(?:\bkind: \(?|\brunUserGit\(ports, repository, )'([a-z-]+)'/g)].map(([, kind]) => kind),
    );
    const chosen = sources.flatMap(({ text }) =>
      [...text.matchAll(/(?:\breturn|\?|(?<!\)):) '(git-[a-z]+)'/g)].map(([, kind]) => kind),
    );
    const started = new Set<string | undefined>([
      ...labelled,
      ...chosen,
      ...Object.values(STARTS).flat(),
      ...BY_OTHERS,
    ]);
    expect(Object.keys(PROGRAMS).filter((kind) => !started.has(kind))).toEqual([]);
  });

  it('is the one in docs/threat-model.md (npm run programs)', () => {
    const page = readFileSync(join(ROOT, PAGE), 'utf8');
    expect(page).toBe(withPrograms(page));
  });
});
