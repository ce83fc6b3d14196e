// @module-tag all
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { TurnEvent } from '../../../src/model/turn-event.ts';
import { DEFAULT_TURN_LIMITS, type TurnRequest } from '../../../src/model/turn-request.ts';
import type { RuntimeBench } from '../../../src/testing/runtime-scenarios.ts';
import { fakeAcpRuntime } from '../../support/acp-harness.ts';
import { fakeAcpArguments, type FakeStep } from '../../support/fake-acp-agent.ts';
import { openBench, type BenchParts } from '../../support/runtime-bench.ts';

let opened: RuntimeBench | undefined;
afterEach(async () => opened?.close());

interface About {
  readonly before?: (parts: BenchParts) => void;
  readonly readOf?: (parts: BenchParts) => readonly string[];
  /** Further arguments of its program, which ignores them. */
  readonly args?: (parts: BenchParts) => readonly string[];
  /** Another program than Node.js; installed, its path is known. */
  readonly program?: { readonly agent: string; readonly install: (parts: BenchParts) => string };
}

/** One turn of an agent that does as it likes and asks nobody, in places that are there before. */
async function turnOf(
  stepsFor: (parts: BenchParts) => FakeStep[],
  request: Partial<TurnRequest> = {},
  { before, readOf, args, program }: About = {},
) {
  let parts: BenchParts | undefined;
  const bench = await openBench((made) => {
    parts = made;
    before?.(made);
    const script = { turns: [{ steps: [...stepsFor(made), { say: 'done' }] }] };
    const more = {
      ...(readOf !== undefined && {
        config: { args: [...fakeAcpArguments(script), ...(args?.(made) ?? [])], read: readOf(made) },
      }),
      ...(program !== undefined && { binary: program.install(made) }),
    };
    return { makeRuntime: () => fakeAcpRuntime(made, script, more, program?.agent), received: () => '' };
  });
  opened = bench;
  const directory = await bench.directory();
  const events: TurnEvent[] = [];
  const whole: TurnRequest = {
    ...{ turnId: 'a'.repeat(24), workspace: bench.workspace, prompt: 'go', instructions: '' },
    ...{ access: { level: 'edit' }, mcp: [], limits: { ...DEFAULT_TURN_LIMITS, wallMs: 60_000, idleMs: 3000 } },
    ...request,
  };
  const context = { directory, onSpawned: () => Promise.resolve(), onEvent: (event: TurnEvent) => events.push(event) };
  const result = await bench.runtime().start(whole, context).result;
  const outputs = events.flatMap((event) => (event.type === 'tool-ended' ? [event.output ?? ''] : []));
  if (parts === undefined) throw new Error('the bench has no parts');
  return { result, outputs: outputs.join('\n'), directory, workspace: bench.workspace.path, parts };
}

/** Every command is tried, whatever became of the one before. */
const run = (...commands: string[]): FakeStep => ({ run: `${commands.join('; ')}; true` });

describe('an agent in its cage', { timeout: 60_000 }, () => {
  it('can neither read nor write the files of its turn, and not forge its end', async () => {
    const files = ['exit', 'stdout', 'launch.json', 'plan.json', 'prompt', 'answer-1.json'];
    const { result, outputs, directory } = await turnOf(({ root }) => [
      run(...files.map((file) => `cat ${root}/.squad/turns/1/${file} && echo read-${file}`)),
      run(...files.map((file) => `echo forged > ${root}/.squad/turns/1/${file}`)),
      run(`rm -rf ${root}/.squad/turns/1/exit.tmp ${root}/.squad/turns/1/stdout`),
    ]);
    expect(result).toMatchObject({ outcome: 'completed', text: 'done' });
    expect(outputs).not.toContain('read-');
    const left = files.filter((file) => existsSync(join(directory, file)));
    expect(left.filter((file) => /^forged$/m.test(readFileSync(join(directory, file), 'utf8')))).toEqual([]);
    expect(existsSync(join(directory, 'answer-1.json'))).toBe(false);
  });

  it('cannot answer in the place of a person', async () => {
    const { result, workspace } = await turnOf(
      ({ root }) => [
        run(`echo '{"allow": true}' > ${root}/.squad/turns/1/answer-1.json`),
        { write: { path: 'asked.txt', text: 'yes' }, kind: 'other', ask: true },
      ],
      { ask: 'human' },
    );
    expect(result.denials).toMatchObject([{ message: 'no answer came in time' }]);
    expect(existsSync(join(workspace, 'asked.txt'))).toBe(false);
  });

  it('sees nothing of homes, temporary files and squad’s own folders but what its program needs', async () => {
    const secret = (path: string, place = 'secret') => {
      mkdirSync(join(path, '..'), { recursive: true });
      writeFileSync(path, `${place}-${'s'.repeat(8)}`);
    };
    const paths = ({ root, home, stateDirectory }: BenchParts) => [
      ...[join(home, '.ssh/id_ed25519'), join(home, 'notes.txt'), join(root, 'other.txt')],
      join(stateDirectory, 'homes/acp/other/key.json'),
    ];
    const { outputs } = await turnOf(
      (parts) => [run(...paths(parts).map((path) => `cat ${path}`), `cat ${parts.home}/tools/readme`, 'ls /run /root')],
      {},
      {
        before: (parts) => {
          for (const path of paths(parts)) secret(path);
          secret(join(parts.home, 'tools/readme'), 'open');
        },
        readOf: () => ['~/tools'],
      },
    );
    expect(outputs).toContain('open-ssssssss');
    expect(outputs).not.toContain('secret-');
    expect(outputs).not.toMatch(/docker|systemd|\.bashrc/);
  });

  it('reads what came with a request, and cannot change it', async () => {
    const place = ({ root }: BenchParts) => join(root, '.squad/attachments/a1/sketch.md');
    const { outputs, parts } = await turnOf(
      (made) => [run(`cat ${place(made)}`, `echo changed >> ${place(made)} || echo kept`, `rm -f ${place(made)}`)],
      {},
      {
        before: (made) => {
          mkdirSync(dirname(place(made)), { recursive: true });
          writeFileSync(place(made), 'the first one is round');
        },
      },
    );
    expect(outputs).toMatch(/round[^]*kept/);
    expect(readFileSync(place(parts), 'utf8')).toBe('the first one is round');
  });

  it('sees of an argument that file alone, and of a folder among them nothing that is hidden', async () => {
    const place = (path: string, text: string) => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `${text}-${'s'.repeat(8)}`);
      return path;
    };
    const hidden = ({ root, home, stateDirectory }: BenchParts) => [
      ...[
        join(root, 'beside.txt'),
        join(root, '.squad/turns/2/plan.json'),
        join(root, '.squad/squad.db'),
        join(home, '.ssh/id_ed25519'),
      ],
      ...[join(home, '.gnupg/key'), join(stateDirectory, 'homes/acp/other/key.json'), join(home, 'folder-2/x')],
      ...['notes.txt', 'tools/.squad/squad.db'].map((name) => join(home, name)),
    ];
    const { outputs } = await turnOf(
      (parts) => [
        run(
          ...hidden(parts).map((path) => `cat ${path}`),
          `cat ${parts.root}/alias/home/.ssh/id_ed25519 ${parts.root}/alias/.squad/squad.db`,
          `cat ${parts.root}/settings.json ${parts.home}/folder/x ${parts.root}/alias/here.txt`,
        ),
      ],
      {},
      {
        before: (parts) => {
          for (const path of hidden(parts)) place(path, 'secret');
          place(join(parts.root, 'settings.json'), 'open-file');
          place(join(parts.home, 'folder/x'), 'open-folder');
          place(join(parts.root, 'here.txt'), 'open-here');
          symlinkSync(parts.root, join(parts.root, 'alias'));
        },
        args: ({ root, home }) => [join(root, 'settings.json'), join(home, 'folder'), home, root],
        // A link to the folder in which all of this lies, and what nothing opens.
        readOf: ({ root, stateDirectory }) => [
          ...[join(root, 'alias'), join(root, 'repository'), join(root, '.squad'), stateDirectory],
          ...['~/.ssh', '~/.ssh/id_ed25519', join(root, 'alias/.squad/turns')],
        ],
      },
    );
    for (const what of ['file', 'folder', 'here']) expect.soft(outputs).toContain(`open-${what}-ssssssss`);
    expect(outputs.match(/secret-/g)).toBeNull();
  });

  it('reads the objects that its folder borrows, and nothing else of the run', async () => {
    const { outputs, workspace } = await turnOf(
      ({ root }) => [
        run('git log --oneline', 'git fsck && echo fsck-is-fine', `cat ${root}/.squad/run.git/objects/canary`),
        run(`cat ${root}/.squad/run.git/config`, `ls ${root}/.squad`, `echo x >${root}/.squad/run.git/objects/made`),
        run(`echo x >${root}/repository/.git/objects/made`, `cat ${root}/repository/.git/config`),
      ],
      {},
      {
        before: ({ root }) => {
          const objects = join(root, '.squad/run.git/objects');
          mkdirSync(join(objects, 'info'), { recursive: true });
          writeFileSync(join(objects, 'info/alternates'), `${join(root, 'repository/.git/objects')}\n`);
          writeFileSync(join(objects, 'canary'), 'the-objects-of-the-run\n');
          writeFileSync(join(objects, '../config'), '[canary]\n');
        },
        readOf: () => [],
      },
    );
    expect(outputs).toContain('the-objects-of-the-run');
    expect(outputs).toContain('fsck-is-fine');
    expect(outputs).not.toMatch(/unable to normalize|canary\]|repositoryformatversion/);
    const root = join(workspace, '..');
    const stores = [join(root, '.squad/run.git/objects/made'), join(root, 'repository/.git/objects/made')];
    expect(stores.filter((path) => existsSync(path))).toEqual([]);
  });

  it('writes its folder, its home and its temporary files, and nothing else', async () => {
    const { parts, workspace, outputs } = await turnOf(({ root, home }) => [
      run('echo made > made.txt', 'echo made > $HOME/made.txt', 'mktemp >/dev/null && echo made-temporary'),
      run(
        ...[home, `${root}/repository`, `${root}/repository/.git`, '/etc', '/usr', '/var/lib'].map(
          (to) => `echo x > ${to}/escaped`,
        ),
      ),
      run('echo x >> .git/config', 'echo x > .git/objects/info/alternates', 'echo x > .git/hooks/pre-commit'),
    ]);
    expect(readFileSync(join(workspace, 'made.txt'), 'utf8')).toBe('made\n');
    expect(outputs).toContain('made-temporary');
    const { root, home } = parts;
    const outside = [home, join(root, 'repository'), join(root, 'repository/.git'), '/etc', '/usr', '/var/lib'];
    expect(outside.filter((path) => existsSync(join(path, 'escaped')))).toEqual([]);
    expect(readFileSync(join(workspace, '.git/config'), 'utf8')).not.toMatch(/^x$/m);
    expect(readFileSync(join(workspace, '.git/objects/info/alternates'), 'utf8')).not.toMatch(/^x$/m);
  });

  it('cannot change its folder with read-only access, even if it does not ask', async () => {
    const { result, workspace } = await turnOf(() => [run('touch made.txt'), { write: { path: 'b.txt', text: 'x' } }], {
      access: { level: 'read-only' },
    });
    expect(result.outcome).toBe('completed');
    expect(['made.txt', 'b.txt'].filter((name) => existsSync(join(workspace, name)))).toEqual([]);
  });

  it('runs an unpacked copy of its program that all sessions share and none can change', async () => {
    const install = ({ root }: BenchParts): string => {
      const path = join(root, 'bin', 'copilot');
      const unpacks = 'mkdir -p "$COPILOT_PKG_CACHE_HOME" && echo unpacked-whole >"$COPILOT_PKG_CACHE_HOME/program"';
      mkdirSync(join(root, 'bin'));
      writeFileSync(path, `#!/bin/sh\ncase $1 in --version) ${unpacks};; *) exec '${process.execPath}' "$@";; esac\n`, {
        mode: 0o755,
      });
      return path;
    };
    const program = '$COPILOT_PKG_CACHE_HOME/program';
    const { outputs, parts } = await turnOf(
      () => [run(`cat ${program}`, `echo x > ${program}`, `rm ${program}`)],
      {},
      {
        program: { agent: 'copilot', install },
      },
    );
    expect(outputs).toContain('unpacked-whole');
    const copy = join(parts.stateDirectory, 'homes/acp/copilot/unpacked/program');
    expect(readFileSync(copy, 'utf8')).toBe('unpacked-whole\n');
  });

  it('has no variable of the host that nobody named', async () => {
    const { outputs } = await turnOf(() => [run('env')]);
    expect(outputs).toContain('SQUAD_TURN_ID=');
    expect(outputs).not.toContain('canary-');
  });
});
