import { spawn } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { installChaosAgent } from '../../test/support/chaos-agent.ts';
import { followTimes, type PeerPlan, type PeerTimes } from './peer-times.ts';
import { chainOf, createRepository, LAUNCHER } from './scripted-room.ts';

/**
 * squad at the work that `playTakt` describes, with the same agent: a first turn plans so many chains of so many pieces. `state`: of an
 * earlier command, so that this one is not the first after an installation.
 */
export async function playSquad(folder: string, plan: PeerPlan, state = join(folder, 'state')): Promise<PeerTimes> {
  const repository = join(folder, 'repository');
  const pieces = Array.from({ length: plan.tasks }, (_, task) => chainOf(plan.steps, `task-${task + 1}-step`)).flat();
  const agent = installChaosAgent(join(folder, 'bin'), {
    turns: [
      { when: 'Split this objective', label: 'plan', mode: 'honest', structured: planOf(pieces) },
      ...pieces.map(({ id }) => ({
        ...{ when: `ask ${id}:`, label: id, mode: 'honest', works: plan.turnMs },
        files: { [`${id}.txt`]: `${id}\n` },
      })),
    ],
  });
  createRepository(repository, plan.files, {
    'readme.md': '# bench\n',
    'objective.md': '# Bench\n\n## Goals\n- Every piece is there\n\n## Success criteria\n- All of it is committed\n',
    // JSON is YAML too.
    'squad.yaml': JSON.stringify({
      version: 1,
      agents: [
        { name: 'planner', role: 'planner', runtime: 'claude', access: 'read-only' },
        { name: 'builder', role: 'builder', runtime: 'claude', access: 'edit' },
      ],
      runtimes: { claude: { command: agent.path('claude'), env: ['ANTHROPIC_API_KEY'] } },
      limits: { parallel: plan.parallel },
    }),
  });
  const path = [agent.folder, dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
  const command = (): ReturnType<typeof spawn> =>
    spawn(process.execPath, [LAUNCHER, 'run', 'objective.md', '--yes', '--json'], {
      cwd: repository,
      env: { PATH: path, HOME: folder, XDG_STATE_HOME: state, LANG: 'C.UTF-8', ANTHROPIC_API_KEY: 'none' },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  const times = await followTimes(command, agent);
  if (times.turns.length !== pieces.length + 1) throw new Error(`squad took ${times.turns.length} turns`);
  return times;
}

function planOf(pieces: ReturnType<typeof chainOf>): object {
  const tasks = pieces.map(({ id, needs }) => ({
    ...{ id, title: `Make ${id}`, role: 'builder', needs, brief: `Write ${id}.txt.`, acceptance: [`${id}.txt exists`] },
  }));
  return { summary: 'as planned', tasks };
}
