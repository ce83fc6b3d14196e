import type { Board } from '../../model/plan/board.ts';
import type { PlanNews } from '../../model/plan/event.ts';
import type { LookUps } from '../../model/plan/judge-evidence.ts';
import { evidenceIn } from '../../rules/judge-evidence.ts';
import { judgesAt } from '../../rules/gate.ts';
import { type CheckFacts, type GateFacts, isUnchecked } from '../../model/plan/gate.ts';
import { isLeftOut } from '../../rules/baseline.ts';
import { checkerWordsOf } from '../../rules/checkers.ts';
import { lookUp } from './cite-files.ts';
import { checkingCommands, describeCheckers, filesAtBase, findCheckers } from './find-checkers.ts';
import { createCheckFolder, SetupFailed } from './check-folder.ts';
import { shortHash, type OperationPorts } from './operation-ports.ts';
import { RUNS_AT_ONCE } from '../../rules/check-again.ts';
import { hasBegun, hasVerifyBegun, runCheck, runVerify, setupFacts } from './run-checks.ts';
import { CRITERION_MS } from './run-commands.ts';
import type { Baseline } from '../../model/plan/baseline.ts';

const GATE = 'gate';

/** Checks the run branch before the run may end: its head, the delivered work in it, `verify` and every criterion's command. */
export async function checkGate(
  ports: OperationPorts,
  board: Board,
): Promise<Extract<PlanNews, { type: 'gate-checked' }>> {
  try {
    return { type: 'gate-checked', facts: await look(ports, board) };
  } catch (error) {
    if (ports.fault === undefined) throw error;
    const { head } = board.branch;
    const command = { purpose: 'setup' as const, run: 'git checkout', passed: false, output: await ports.fault(error) };
    return { type: 'gate-checked', facts: { expected: head, head, missing: [], commands: [command] } };
  }
}

async function look(ports: OperationPorts, board: Board): Promise<GateFacts> {
  const { workspaces, definition } = ports;
  const expected = board.branch.head;
  const head = (await workspaces.runHead(definition.name)) ?? null;
  const nothing = { expected, head, missing: [], commands: [] };
  if (head !== expected) return nothing;
  const missing = await missingFrom(ports, board, head);
  const looked = await lookedOf(ports, board, head);
  const checkers = await checkersOf(ports, board, head);
  const commands = await runAll(ports, board, head);
  const atBase = await runAtBase(ports, board, head, checkers);
  // If the branch moved meanwhile, these facts are void.
  const now = (await workspaces.runHead(definition.name)) ?? null;
  return now === head
    ? { expected, head, missing, commands, looked, ...checkers, ...atBase }
    : { ...nothing, head: now };
}

async function missingFrom({ workspaces, definition }: OperationPorts, board: Board, head: string): Promise<string[]> {
  const missing: string[] = [];
  // One call of git finds nearly all. Its list has an end, so the others are asked about one by one.
  const newest = await workspaces.commitsBetween(definition.repository.base, head);
  const onBranch = new Set(newest.map(({ commit }) => commit));
  for (const { task, work } of board.tasks.values()) {
    const { phase } = work;
    const commit = work.delivered ?? work.commit;
    const isDelivered = task.integrate && phase.at === 'ended' && phase.as === 'done' && commit !== null;
    if (isDelivered && !onBranch.has(commit) && !(await workspaces.isAncestor(commit, head))) missing.push(task.id);
  }
  return missing;
}

/** Compares the base with all of the work, not one task's. */
async function checkersOf(ports: OperationPorts, board: Board, head: string): Promise<Pick<GateFacts, 'checkers'>> {
  const range = { base: ports.definition.repository.base, commit: head };
  const found = await findCheckers(ports, checkingCommands(ports, board), range);
  const checkers = await describeCheckers(ports, found, { ...range, words: checkerWordsOf(board) });
  return checkers.length === 0 ? {} : { checkers };
}

/** Runs all commands once more, with what the work changed of its checks as it was. */
async function runAtBase(
  ports: OperationPorts,
  board: Board,
  head: string,
  { checkers = [] }: Pick<GateFacts, 'checkers'>,
): Promise<Pick<GateFacts, 'atBase'>> {
  if (ports.definition.checks !== 'base' || checkers.length === 0) return {};
  const { base } = ports.definition.repository;
  const files = await filesAtBase(ports, checkers, { base, commit: head });
  const commit = await ports.workspaces.overlay(ports.definition.name, { onto: head, from: base, files });
  return { atBase: await runAll(ports, board, commit) };
}

async function lookedOf(ports: OperationPorts, { gate, facts }: Board, head: string): Promise<LookUps> {
  const looked: LookUps = {};
  for (const judged of judgesAt(head, gate)) {
    Object.assign(looked, await lookUp(ports, evidenceIn(judged, facts.objective.criteria)));
  }
  return looked;
}

/** In a folder that is made new for it: the same commit has the same result there as in a fresh clone. */
async function runAll(ports: OperationPorts, { facts, baseline }: Board, head: string): Promise<GateFacts['commands']> {
  const { name, setup, verify } = ports.definition;
  const commandsOf = facts.objective.criteria.flatMap(({ command }) => command ?? []);
  const kept = [...new Set(commandsOf)].filter((run) => !isLeftOut({ run }, baseline));
  const wanted = kept.map((run) => {
    const id = `criterion-${head.slice(0, 12)}-${shortHash(run)}`;
    return { id, task: GATE, run, wallMs: CRITERION_MS, purpose: 'verify' as const };
  });
  if (setup.length + verify.length + wanted.length === 0) return [];
  const order = { task: GATE, baseline, commit: head };
  const begun = hasVerifyBegun(ports, { ...order, name: 'gate' }) || wanted.some(({ id }) => hasBegun(ports, id));
  const checkFolder = createCheckFolder(ports, {
    ...{ task: GATE, tries: 1, anew: true, goesOn: begun },
    open: async () => ports.workspaces.integrationAt(name, head),
  });
  // If the author found no fault in failed work, `verify` has run twice on it already; then it runs once here.
  const wasAgain = hasVerifyBegun(ports, { ...order, name: 'verify' }, 2);
  const runs = { first: 1, last: wasAgain ? 1 : RUNS_AT_ONCE };
  const commands = await runVerify(ports, checkFolder, { ...order, name: 'gate', runs });
  // If the setup failed, a failing criterion would say nothing about the work.
  if (commands.some(({ purpose, passed }) => purpose === 'setup' && !passed)) return commands;
  try {
    if (commands.length + wanted.length === 0) await checkFolder.ready('go');
    for (const step of wanted) {
      const ran = ranAlone(commands, step.run) ?? (await runCheck(ports, checkFolder, step, RUNS_AT_ONCE));
      commands.push({ purpose: 'criterion', ...ran, output: ran.passed ? '' : ran.output });
    }
  } catch (error) {
    commands.push(setupFacts(error));
  }
  return withBroken(ports, baseline, commands, GATE);
}

/** Reuses the first `verify` result for an equal criterion: only that command ran without the output of earlier ones. */
function ranAlone([first]: GateFacts['commands'], run: string): CheckFacts | undefined {
  if (first === undefined || first.purpose !== 'verify' || first.run !== run) return undefined;
  const { purpose: _, ...facts } = first;
  return facts;
}

/**
 * The commands that ran at the end of a run. A criterion's that cannot run there counts as failed if it can on the base commit: the work
 * has broken it. `task`: whose checks these are.
 */
async function withBroken(
  ports: OperationPorts,
  baseline: Pick<Baseline, 'facts'>,
  ran: GateFacts['commands'],
  task: string,
): Promise<GateFacts['commands']> {
  const { base } = ports.definition.repository;
  const commands: GateFacts['commands'] = [];
  for (const one of ran) {
    const isBroken = isUnchecked(one) && !(await cannotRunOnBase(ports, baseline, one.run, task));
    const { cannotRun: _, ...failed } = one;
    const note = `\nOn ${base.slice(0, 12)}, the commit that the run begins from, this command can run.`;
    commands.push(isBroken ? { ...failed, output: `${one.output.trimEnd()}${note}` } : one);
  }
  return commands;
}

async function cannotRunOnBase(
  ports: OperationPorts,
  { facts }: Pick<Baseline, 'facts'>,
  run: string,
  task: string,
): Promise<boolean> {
  const known = facts?.commands.find((one) => one.purpose !== 'setup' && one.run === run);
  if (known !== undefined) return known.cannotRun;
  const { name, repository } = ports.definition;
  const id = `criterion-base-${repository.base.slice(0, 12)}-${shortHash(run)}`;
  const folder = createCheckFolder(ports, {
    ...{ task, tries: 1, anew: true, goesOn: hasBegun(ports, id) },
    open: async () => ports.workspaces.integrationAt(name, repository.base),
  });
  try {
    const ran = await runCheck(ports, folder, { id, task, run, wallMs: CRITERION_MS, purpose: 'verify' }, 1);
    return ran.cannotRun !== undefined;
  } catch (error) {
    if (!(error instanceof SetupFailed)) throw error;
    // Then nothing can run there.
    return true;
  }
}
