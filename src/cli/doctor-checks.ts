import { diskText, type DiskUse } from '../model/disk-use.ts';
import { onScreen, type Screen } from './render/screen.ts';
import type { TurnIsolation } from '../substrate/ports/processes.ts';
import { byteCount } from '../text/byte-count.ts';
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
  readonly checkout: LookedAt;
  /** The git directory that all checkouts share. */
  readonly common: LookedAt;
  /** It has the ledger and the agents' folders. */
  readonly state: LookedAt & { readonly ofContainer: boolean };
}): DoctorCheck {
  const { checkout, common, state } = folders;
  const slow = [checkout, common].find(({ network }) => network !== undefined);
  const slowness = slow?.network === undefined ? [] : [slowRepository(slow, slow.network)];
  const fleeting = state.ofContainer ? [inContainer(state)] : [];
  const found = `${checkout.path}, on ${checkout.network ?? 'a local file system'}`;
  const problems = [...slowness, ...fleeting];
  if (state.network === undefined) return { name: 'repository', ok: true, found, problems };
  const text = `squad keeps its ledger below ${state.path}, which is on a network file system (${state.network}), where locks do not reach other machines: squad refuses to run`;
  const problem = { text, next: 'Set SQUAD_STATE to a folder on a local disk.' };
  return { name: 'repository', ok: false, found, problems: [problem, ...problems] };
}

function slowRepository({ path }: LookedAt, network: string): DoctorCheck['problems'][number] {
  return {
    text: `${path} is on a network file system (${network}): every agent reads its objects from there`,
    next: 'Work in a clone of the repository on a local disk.',
  };
}

function inContainer({ path }: LookedAt): DoctorCheck['problems'][number] {
  return {
    text: `squad keeps its ledger below ${path}, which is on the layer of a container and goes with it`,
    next: 'Set SQUAD_STATE to a folder on a volume, or to `git` to keep it in the git directory.',
  };
}

/** Says how much squad takes on the disk, and whether folders wait there for the next tasks. It never prevents a run. Pure. */
export function decideDiskCheck(use: DiskUse, free: number, gigabytes: number): DoctorCheck {
  const check = { name: 'disk', ok: true, found: `in use by squad, ${diskText(use)}`, problems: [] };
  if (free >= gigabytes * 1e9) return check;
  const text = `${byteCount(free)} are free there: below ${gigabytes} GB (limits.freeDisk) squad keeps no folders for the next tasks, which start later`;
  return { ...check, problems: [{ text, next: 'Free some space, for example with `squad clean`.' }] };
}

/** Says whether squad's git is confined at work on files of agents. It never prevents a run: it is one wall of two. Pure. */
export function decideCageCheck(cage: { readonly problem: string } | object): DoctorCheck {
  if (!('problem' in cage)) return { name: 'git cage', ok: true, found: 'bubblewrap', problems: [] };
  const text = `squad’s own git reads agents’ commits and fills their folders without a cage (${cage.problem}). squad still reads their files by a walk of its own, in which no git can find what an agent made`;
  return {
    name: 'git cage',
    ok: true,
    found: 'none',
    problems: [{ text, next: 'Install bubblewrap, and allow user namespaces.' }],
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

/** A system on which squad was not tried. Pure. */
export function decideSystemCheck(platform: NodeJS.Platform): DoctorCheck[] {
  const name = platform === 'darwin' ? 'macOS' : platform;
  const tried =
    platform === 'darwin'
      ? 'not yet tried on a Mac, nor is its sandbox for agents that have none of their own'
      : 'not tried there';
  return [{ name: 'system', ok: true, found: `${name}: experimental, ${tried} (docs/macos.md)`, problems: [] }];
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
export function renderDoctor(checks: readonly DoctorCheck[], screen: Screen): string {
  const width = Math.max(...checks.map((check) => check.name.length));
  const lines = checks.flatMap((check) => [
    `${check.ok ? 'ok  ' : 'FIX '}  ${check.name.padEnd(width)}  ${plainLine(check.found, 160)}`,
    ...check.problems.flatMap((problem) => [
      ...(isSaid(check, problem.text) ? [] : [`      ${plainLine(problem.text, 400)}`]),
      `      → ${plainLine(problem.next, 400)}`,
    ]),
  ]);
  return onScreen(lines, screen, [
    [/^ok(?= )/, 'green'],
    [/^FIX(?= )/, 'red'],
    [/^ +→ .*$/, 'bold'],
  ]);
}

/** The line of the check says it already. */
function isSaid({ name, found }: DoctorCheck, text: string): boolean {
  return text === `${name.split('/').at(-1)} was ${found}`;
}
