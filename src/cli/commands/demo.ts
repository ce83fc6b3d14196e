import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { compose } from '../../engine/compose.ts';
import { openMachine } from '../../engine/machine.ts';
import { errorText } from '../../model/errors.ts';
import { squadOn } from '../../squad/squad.ts';
import { openWorkspace } from '../../squad/open-workspace.ts';
import { createRepository } from '../../substrate/git/repository.ts';
import { ledgerPath } from '../../substrate/ledger/index.ts';
import { plainLine } from '../../text/plain-text.ts';
import { checkLedger } from '../check-ledger.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { DEMO_FILES, demoSettings } from '../demo/demo-files.ts';
import { DEMO_SCRIPT } from '../demo/demo-script.ts';
import { showRun } from './show-run.ts';

/** Plays a whole run in a new repository: real git and processes, with scripted agents. The repository stays unless `--remove`. */
export async function demo(context: CommandContext, options: Options<'demo'>): Promise<void> {
  const { host, output } = context;
  const json = options.json === true;
  const folder = options.keep === undefined ? await makeDemoFolder(context) : resolve(options.keep);
  try {
    const repository = await makeRepository(context, folder);
    if (!json) output.line(`A demo repository at ${repository} with an objective and four scripted agents.\n`);
    const show = await showRun(context, options);
    // The whole demo is in one folder, with its own state.
    const own = { ...host, workingDirectory: repository, stateDirectory: join(folder, 'state') };
    const running = await squadOn(own).run('objective.md', { trust: 'yes', onEvent: show.onEvent });
    await show.follow(running);
    await printDemo({ ...context, host: own }, { repository, folder }, options);
  } finally {
    if (options.remove === true) await rm(folder, { recursive: true, force: true });
  }
}

/** In the folder for temporary files, where the machine cleans up. One that cannot be used is said, and another is taken. */
async function makeDemoFolder({ host, output }: CommandContext): Promise<string> {
  const named = host.environment['TMPDIR'];
  const own = host.stateDirectory;
  const places = [...(named === undefined || named === '' ? [] : [resolve(host.workingDirectory, named)]), '/tmp'];
  for (const place of places) {
    try {
      return await mkdtemp(join(place, 'squad-demo-'));
    } catch (error) {
      output.problem(`squad: the folder for temporary files cannot be used: ${plainLine(errorText(error), 500)}`);
    }
  }
  await mkdir(own, { recursive: true, mode: 0o700 });
  return mkdtemp(join(own, 'squad-demo-'));
}

async function makeRepository({ host }: CommandContext, folder: string): Promise<string> {
  const repository = join(folder, 'greeting');
  const script = join(folder, 'script.json');
  await mkdir(folder, { recursive: true });
  await writeFile(script, `${JSON.stringify(DEMO_SCRIPT, null, 2)}\n`);
  await createRepository(compose(host).git, repository, { ...DEMO_FILES, 'squad.yaml': demoSettings(script) });
  return repository;
}

async function printDemo(
  context: CommandContext,
  { repository, folder }: { repository: string; folder: string },
  options: Options<'demo'>,
): Promise<void> {
  const { output, exit } = context;
  const { directory } = await openWorkspace({ host: context.host, composition: openMachine(context.host) });
  const check = checkLedger(ledgerPath(directory));
  if (!check.ok) {
    exit(65);
    output.problem(`the demo's ledger is damaged: ${check.problems.join('; ')}`);
  }
  if (options.json === true) return;
  output.line('');
  const { report } = await import('./report.ts');
  await report(context, undefined, {});
  output.line(`\nThe ledger has ${check.events} events, and is ${check.ok ? 'sound' : 'DAMAGED'}.`);
  if (options.remove === true) return;
  output.line(`Look around:   cd ${repository} && git log --graph --oneline --all`, 'exact');
  output.line(`Ask squad:     SQUAD_STATE=${context.host.stateDirectory} squad status`, 'exact');
  output.line(`Then remove:   rm -rf ${folder}`, 'exact');
}
