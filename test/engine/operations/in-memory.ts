import type { CheckAnswer, CheckOrder } from '../../../src/engine/checks/run-checks.ts';
import type { Board } from '../../../src/model/plan/board.ts';
import type { RunDefinition } from '../../../src/model/run.ts';
import type { OperationPorts } from '../../../src/engine/operations/operation-ports.ts';
import type { Workspaces } from '../../../src/substrate/ports/workspaces.ts';
import { boardWith } from '../../rules/support.ts';
import { definition } from '../../view/report/support.ts';
import { createSimulatedRepository, type SimulatedGit } from '../../simulation/world/simulated-repository.ts';

type Files = Readonly<Record<string, string>>;
type Criteria = Board['facts']['objective']['criteria'];

export const RED: CheckAnswer = { passed: false, why: 'exit', code: 1, output: 'it is red' };
export const MISSING: CheckAnswer = { passed: false, why: 'exit', code: 127, output: 'sh: 1: tool: not found' };

interface Given {
  /** At the commit that the run begins from, and what its work has written since. */
  readonly base?: Files;
  readonly work?: Files;
  readonly definition?: Partial<RunDefinition>;
  readonly setup?: readonly string[];
  readonly verify?: readonly string[];
  readonly criteria?: readonly (string | undefined)[];
  /** What a command answers, one after the other; afterwards, and where there is nothing, it passes. */
  readonly answers?: Readonly<Record<string, readonly CheckAnswer[]>>;
  /** Checks that an earlier engine began, by the head of the run branch. */
  readonly begun?: (head: string) => readonly string[];
}

/** The ports of a run whose branch, folders and commands are in memory, and all that was asked of them. */
export function openInMemory(given: Given = {}) {
  const { workspaces: real, base: first, ...repository } = createSimulatedRepository();
  const git: SimulatedGit = repository.git;
  const base = git.commit(first, { writes: given.base ?? {} }, 'base');
  const head = git.commit(base, { writes: given.work ?? { 'a.txt': 'a\n' } }, 'work');
  git.point('tidy', head);
  const orders: CheckOrder[] = [];
  const folders: string[] = [];
  const begun = new Set(given.begun?.(head));
  const passed = new Set<string>();
  const left = new Map(Object.entries(given.answers ?? {}).map(([run, answers]) => [run, [...answers]]));
  const workspaces: Workspaces = {
    ...real,
    integrationAt: async (run, commit) => {
      folders.push(`open ${commit.slice(0, 12)}`);
      return real.integrationAt(run, commit);
    },
    makeAnew: async (folder, keep) => {
      folders.push('anew');
      return real.makeAnew(folder, keep);
    },
  };
  const steps = (runs: readonly string[] = []) => runs.map((run) => ({ run, minutes: 1 }));
  const ports = {
    workspaces,
    pure: new Set<string>(),
    definition: {
      ...definition(),
      ...{ setup: steps(given.setup), verify: steps(given.verify) },
      repository: { root: '/repository', base, branch: 'main' },
      ...given.definition,
    },
    checks: {
      run: async (order: CheckOrder): Promise<CheckAnswer> => {
        await order.workspace();
        orders.push(order);
        begun.add(order.id);
        const answer = left.get(order.command)?.shift() ?? { passed: true, output: 'it is green' };
        if (answer.passed) passed.add(order.id);
        return answer;
      },
      passed: (id: string) => passed.has(id),
      lives: () => false,
      attemptOf: (id: string) => (begun.has(id) ? `attempt-of-${id}` : undefined),
    },
  } as unknown as OperationPorts;
  const criteria: Criteria = (given.criteria ?? []).map((command) => ({
    text: 'it works',
    ...(command === undefined ? {} : { command }),
  }));
  const objective = { title: 'Try', goals: [], criteria, constraints: [], context: '', text: '' };
  const empty = boardWith([], { base, objective });
  const board: Board = { ...empty, branch: { ...empty.branch, head } };
  return { git, ports, base, head, board, orders, folders, ran: () => orders.map(({ command }) => command) };
}

/** The same with other answers of git. */
export function withGit(ports: OperationPorts, more: Partial<Workspaces>): OperationPorts {
  return { ...ports, workspaces: { ...ports.workspaces, ...more } };
}
