import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { installChaosAgent } from '../../test/support/chaos-agent.ts';
import { install } from '../recovery/peers/install.ts';
import { followTimes, type PeerPlan, type PeerTimes } from './peer-times.ts';
import { createRepository } from './scripted-room.ts';

/**
 * TAKT at the same work: `takt run` with tasks of so many steps, in a clone for each task, and an agent that sleeps, writes a file and
 * commits it. A rule without a judge leads from each step to the next. undefined: it cannot be installed here.
 */
export async function playTakt(folder: string, plan: PeerPlan): Promise<PeerTimes | undefined> {
  const installed = install('takt');
  if ('why' in installed) return undefined;
  const repository = join(folder, 'repository');
  createRepository(repository, plan.files, { 'readme.md': '# bench\n', '.gitignore': '.takt/\n' });
  const steps = Array.from({ length: plan.steps }, (_, index) => `step-${index + 1}`);
  const turns = steps.map((step) => ({
    ...{ match: `- Step: ${step}\\n`, label: step, mode: 'honest', works: plan.turnMs },
    files: { [`${step}.txt`]: `${step}\n` },
  }));
  const agent = installChaosAgent(join(folder, 'bin'), { turns });
  const home = join(folder, 'home');
  writeSettings(home, repository, plan, steps);
  const program = join(installed.folder, 'node_modules', 'takt', 'bin', 'takt');
  const path = [agent.folder, dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
  const command = (): ReturnType<typeof spawn> =>
    spawn(process.execPath, [program, 'run'], {
      cwd: repository,
      env: { PATH: path, HOME: home, LANG: 'C.UTF-8', ANTHROPIC_API_KEY: 'none' },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  const times = await followTimes(command, agent);
  if (times.turns.length !== plan.tasks * plan.steps) throw new Error(`takt took ${times.turns.length} turns`);
  return times;
}

function writeSettings(home: string, repository: string, plan: PeerPlan, steps: readonly string[]): void {
  const own = join(repository, '.takt');
  mkdirSync(join(home, '.takt'), { recursive: true });
  mkdirSync(join(own, 'workflows'), { recursive: true });
  writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = bench\n\temail = bench@squad.invalid\n');
  const config = { provider: 'claude', language: 'en', concurrency: plan.parallel };
  writeFileSync(join(home, '.takt', 'config.yaml'), stringify(config));
  const workflow = {
    ...{ name: 'chain', max_steps: steps.length + 1, initial_step: steps[0] },
    steps: steps.map((name, index) => ({
      ...{ name, persona: 'coder', edit: true, required_permission_mode: 'edit', instruction: `Write ${name}.txt.` },
      rules: [{ condition: 'when(true)', next: steps[index + 1] ?? 'COMPLETE' }],
    })),
  };
  writeFileSync(join(own, 'workflows', 'chain.yaml'), stringify(workflow));
  const tasks = Array.from({ length: plan.tasks }, (_, index) => `task-${index + 1}`).map((name) => ({
    ...{
      name,
      slug: name,
      status: 'pending',
      worktree: true,
      branch: `takt/${name}`,
      workflow: 'chain',
      content: name,
    },
    ...{ created_at: new Date().toISOString(), started_at: null, completed_at: null },
  }));
  writeFileSync(join(own, 'tasks.yaml'), stringify({ tasks }));
}
