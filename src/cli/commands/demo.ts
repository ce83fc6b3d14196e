import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { compose } from '../../compose.ts';
import { DEFAULT_TURN_LIMITS } from '../../model/turn-request.ts';
import { startSingleTurn } from '../../single-turn.ts';
import { createRepository } from '../../substrate/git/demo-repository.ts';
import { checkDatabase, ledgerPath } from '../../substrate/ledger/index.ts';
import type { CommandContext, DemoOptions } from '../command-context.ts';
import { showTurn, turnListeners } from './show-turn.ts';

const FILES = {
  'README.md': '# Greeting\n\nA program that greets.\n',
  'greet.js': "console.log('hello');\n",
};

/** What the scripted agent does: an edit, a check of its own, and a commit, each by a real process. */
const SCRIPT = {
  turns: [
    {
      steps: [
        { say: 'I will make the greeting take a name, and try it.' },
        { write: { path: 'greet.js', text: "console.log(`hello, ${process.argv[2] ?? 'world'}`);\n" } },
        { run: ['node', 'greet.js', 'squad'] },
        { run: ['git', 'add', '--all'] },
        { run: ['git', 'commit', '--quiet', '--message', 'Greet by name'] },
        { answer: 'greet.js greets by name; it is committed.' },
      ],
    },
  ],
};

/** Everything is real but the mind: the scripted runtime stands where no model can be had. */
export async function demo(context: CommandContext, options: DemoOptions): Promise<void> {
  const { host, output } = context;
  const json = options.json === true;
  const folder = options.keep === undefined ? await mkdtemp(join(tmpdir(), 'squad-demo-')) : resolve(options.keep);
  try {
    const repository = join(folder, 'greeting');
    const script = join(folder, 'script.json');
    const composition = compose({ ...host, stateHome: join(folder, 'state') });
    await mkdir(folder, { recursive: true });
    await createRepository(composition.git, repository, FILES);
    await writeFile(script, JSON.stringify(SCRIPT));
    if (!json)
      output.line(`A new repository at ${repository}; one scripted agent takes a turn in a worktree of its own.\n`);
    const runtime = composition.runtime('scripted', { config: { script } });
    const running = await startSingleTurn(
      {
        ...composition,
        host: { ...host, stateHome: join(folder, 'state') },
        runtimeFor: () => runtime,
        ...turnListeners(output, json),
      },
      repository,
      {
        runtime: 'scripted',
        retries: 0,
        request: {
          prompt: 'Make the greeting take a name.',
          instructions: 'You are the builder of this squad.',
          access: { level: 'edit' },
          mcp: [],
          limits: { ...DEFAULT_TURN_LIMITS, wallMs: 60_000 },
        },
      },
    );
    await showTurn(context, running, json);
    const check = checkDatabase(ledgerPath(join(repository, '.squad')));
    if (json) output.json({ type: 'db-check', at: Date.now(), ...check });
    else
      output.line(
        `  ledger    ${check.events} events, ${check.ok ? 'sound' : 'DAMAGED'}${options.keep === undefined ? '' : ` (\`squad log\` in ${repository})`}`,
      );
    if (!check.ok) context.exit(65);
  } finally {
    if (options.keep === undefined) await rm(folder, { recursive: true, force: true });
  }
}
