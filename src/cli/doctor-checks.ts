import type { TurnIsolation } from '../substrate/ports/processes.ts';
import { plainLine } from '../text/plain-text.ts';

export interface DoctorCheck {
  readonly name: string;
  readonly ok: boolean;
  /** The finding, in a few words. */
  readonly found: string;
  readonly problems: readonly { readonly text: string; readonly next: string }[];
}

export interface LookedAt {
  readonly path: string;
  /** Kind of the network file system that it is on; undefined: a local one. */
  readonly network: string | undefined;
}

/** The folders of a run. Databases must be on a local disk, and agents' folders should be. Pure. */
export function decideFolderCheck(folders: {
  /** It has `.squad`. */
  readonly checkout: LookedAt;
  /** The git directory that all checkouts share. */
  readonly common: LookedAt;
  /** It has the agents' folders. */
  readonly state: LookedAt;
}): DoctorCheck {
  const { checkout, common, state } = folders;
  const refused = [checkout, common].find(({ network }) => network !== undefined);
  const slow = state.network === undefined ? [] : [slowState(state, state.network)];
  const found = `${checkout.path}, on ${checkout.network ?? 'a local file system'}`;
  if (refused === undefined) return { name: 'repository', ok: true, found, problems: slow };
  const text = `${refused.path} is on a network file system (${refused.network}), where locks do not reach other machines: squad refuses to run there`;
  const problem = { text, next: 'Work in a clone of the repository on a local disk.' };
  return { name: 'repository', ok: false, found, problems: [problem, ...slow] };
}

function slowState({ path }: LookedAt, network: string): DoctorCheck['problems'][number] {
  return {
    text: `agents' folders go below ${path}, which is on a network file system (${network})`,
    next: 'Set XDG_STATE_HOME to a folder on a local disk.',
  };
}

/** Says whether a process can outlive its turn on this machine. It never prevents a run. Pure. */
export function decideIsolationCheck(isolation: TurnIsolation): DoctorCheck {
  const check = { name: 'turns', ok: true, problems: [] };
  switch (isolation.type) {
    case 'pid-namespace':
      return { ...check, found: 'each turn and command in a PID namespace of its own, which ends with it' };
    case 'user-namespace':
      return { ...check, found: 'each turn in a PID namespace of its own, which ends with it; commands without one' };
    case 'none':
      return {
        ...check,
        found: 'no PID namespace for them',
        problems: [
          {
            text: `a process can outlive its turn if it sheds its environment, its session and its parents (${isolation.why})`,
            next: 'Install util-linux 2.38, and allow user namespaces here or run squad as root in a container that may make namespaces.',
          },
        ],
      };
  }
}

/** Each of these variables makes LangChain print or send what a graph does. */
const SWITCH = /^(?:LANGSMITH|LANGCHAIN)_(?:TRACING(?:_V2)?|VERBOSE|OTEL_ENABLED|RUNS_ENDPOINTS)$/;

/** LangChain switches that are on, and have no effect in squad. Returns no check if none is on. Pure. */
export function decideTracingCheck(environment: Readonly<Record<string, string | undefined>>): DoctorCheck[] {
  const set = Object.entries(environment).flatMap(([name, value = '']) =>
    SWITCH.test(name) && !['', '0', 'false'].includes(value.toLowerCase()) ? [name] : [],
  );
  if (set.length === 0) return [];
  const found = `${set.toSorted().join(', ')} set without effect: squad sends traces only if --trace or “tracing” in squad.yaml asks for them`;
  return [{ name: 'tracing', ok: true, found, problems: [] }];
}

/** One line a check, and under it what is wrong and what to do. */
export function renderDoctor(checks: readonly DoctorCheck[]): string {
  const width = Math.max(...checks.map((check) => check.name.length));
  return checks
    .flatMap((check) => [
      `${check.ok ? 'ok  ' : 'FIX '}  ${check.name.padEnd(width)}  ${plainLine(check.found, 160)}`,
      ...check.problems.flatMap((problem) => [
        `      ${plainLine(problem.text, 400)}`,
        `      → ${plainLine(problem.next, 400)}`,
      ]),
    ])
    .join('\n');
}
