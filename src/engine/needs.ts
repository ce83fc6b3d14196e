import type { Composition } from './compose.ts';
import { wrongEnvironment } from '../model/errors.ts';
import type { Playbook } from '../model/plan.ts';
import { agentScope } from '../model/plan/scope.ts';
import type { RunDefinition } from '../model/run.ts';
import { isRegistered } from '../model/runtime-name.ts';
import { playbookOfRun } from '../playbooks/registry.ts';
import type { RunHistory } from '../view/read-run.ts';
import { predictBoard } from '../view/replay-plan.ts';

type Registered = Pick<Composition, 'runtimes' | 'playbooks'>;

/** The playbook of a run. Throws `wrong-environment` if that, or one of its runtimes, is not registered in this process. */
export function requireRegistered(
  { runtimes, playbooks }: Registered,
  definition: RunDefinition,
  needed: readonly string[] = definition.agents.map(({ runtime }) => runtime),
): Playbook<unknown> {
  const { name, playbook: chosen } = definition;
  const playbook = playbookOfRun(playbooks, definition);
  if (playbook === undefined) {
    throw wrongEnvironment(
      `run ${name} needs the playbook ${chosen}, which is not registered here`,
      `Run \`squad resume\` in the version of squad that started it, or resume it in a program that registers ${chosen}.`,
    );
  }
  const missing = needed.find((runtime) => !isRegistered(runtimes, runtime));
  if (missing === undefined) return playbook;
  const agent = definition.agents.find(({ runtime }) => runtime === missing)?.name;
  // One that this run works with was there when it began; any other may not be installed.
  const other = definition.agents.map(({ runtime }) => runtime).find((one) => isRegistered(runtimes, one));
  const instead =
    agent === undefined
      ? ''
      : `, or let another one do its work: \`squad switch ${other ?? 'RUNTIME'} --agent ${agent}\`${other === undefined ? '; `squad doctor` says which are there' : ''}`;
  const where =
    definition.described[missing]?.inApplication === true
      ? `It is part of the application that started the run, which has to resume it (\`squad.resume()\`)`
      : `Resume it in a program that registers ${missing}`;
  throw wrongEnvironment(
    `run ${name} needs the runtime ${missing}, which is not registered here`,
    `${where}${instead}.`,
  );
}

/** The runtimes that a run needs from now on: of its agents, as the operator switched them, and of turns that have not ended. */
export function runtimesFor({ definition, board, pendingRequests, attempts }: RunHistory): string[] {
  const { switches } = predictBoard(board, pendingRequests);
  return [
    ...definition.agents.map(({ name, runtime }) => switches.get(agentScope(name))?.runtime ?? runtime),
    ...[...switches.values()].map(({ runtime }) => runtime),
    ...attempts.flatMap(({ attempt, settlement }) =>
      attempt.kind === 'turn' && settlement === undefined ? [attempt.runtime] : [],
    ),
  ];
}
