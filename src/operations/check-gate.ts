import type { Board } from '../model/plan/board.ts';
import type { PlanNews } from '../model/plan/event.ts';
import { verdictsAt } from '../graph/decisions/gate.ts';
import type { GateFacts } from '../model/plan/gate.ts';
import { CRITERION_MS, describe, runCommand, runVerify } from './run-commands.ts';
import { shortHash, type OperationPorts } from './operation-ports.ts';

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
    return { type: 'gate-checked', facts: { expected: head, head, missing: [], commands: [command], files: [] } };
  }
}

async function look(ports: OperationPorts, board: Board): Promise<GateFacts> {
  const { workspaces, definition } = ports;
  const expected = board.branch.head;
  const head = (await workspaces.runHead(definition.name)) ?? null;
  const nothing = { expected, head, missing: [], commands: [], files: [] };
  if (head === null || head !== expected) return nothing;
  const missing = await missingFrom(ports, board, head);
  const files = await filesOf(ports, board, head);
  const commands = await runAll(ports, board, head);
  // If the branch moved meanwhile, these facts are void.
  const now = (await workspaces.runHead(definition.name)) ?? null;
  return now === head ? { expected, head, missing, commands, files } : { ...nothing, head: now };
}

async function missingFrom({ workspaces, definition }: OperationPorts, board: Board, head: string): Promise<string[]> {
  const missing: string[] = [];
  // One call of git finds nearly all. Its list has an end, so the others are asked about one by one.
  const newest = await workspaces.commitsBetween(definition.repository.base, head);
  const onBranch = new Set(newest.map(({ commit }) => commit));
  for (const { task, work } of board.tasks.values()) {
    const { phase, commit } = work;
    const isDelivered = task.integrate && phase.at === 'ended' && phase.as === 'done' && commit !== null;
    if (isDelivered && !onBranch.has(commit) && !(await workspaces.isAncestor(commit, head))) missing.push(task.id);
  }
  return missing;
}

async function filesOf({ workspaces }: OperationPorts, { gate }: Board, head: string): Promise<string[]> {
  const named = [...new Set(verdictsAt(head, gate).flatMap(({ verdict }) => verdict.file ?? []))];
  const found = await Promise.all(named.map((file) => workspaces.isFileAt(head, file)));
  return named.filter((_, index) => found[index] === true);
}

async function runAll(ports: OperationPorts, { facts, baseline }: Board, head: string): Promise<GateFacts['commands']> {
  const { name, setup, verify } = ports.definition;
  const wanted = new Set(facts.objective.criteria.flatMap(({ command }) => command ?? []));
  if (setup.length + verify.length + wanted.size === 0) return [];
  const folder = await ports.workspaces.integrationAt(name, head);
  const commands = await runVerify(ports, folder, { task: GATE, baseline }, head);
  // If the setup failed, a failing criterion would say nothing about the work.
  if (commands.some(({ purpose, passed }) => purpose === 'setup' && !passed)) return commands;
  for (const run of wanted) {
    const id = `criterion-${head.slice(0, 12)}-${shortHash(run)}`;
    const order = { id, task: GATE, command: run, folder, wallMs: CRITERION_MS, purpose: 'verify' as const };
    const answer = await runCommand(ports, order);
    commands.push({
      purpose: 'criterion',
      run,
      passed: answer.passed,
      output: answer.passed ? '' : describe(run, answer),
    });
  }
  return commands;
}
