import type { RunStatus } from '../../../src/read-model/status.ts';
import type { SimulatedAgents } from '../world/simulated-agents.ts';
import type { WorldEnd } from '../world/simulated-world.ts';
import { headlineOf, judgeRun, type OracleFacts, type Verdict } from './oracle.ts';
import type { OraclePlan } from './oracle-plan.ts';
import type { WorldRecord } from './record.ts';

const VERIFIED = 'all work is delivered and verified';

/** Everything in which what is told of a run differs from what the oracle says; none for a good one. */
export function differences(plan: OraclePlan, world: WorldEnd): string[] {
  const { end, shown } = world;
  const { status } = shown;
  if (end.end !== 'finished') return [`it has not finished: ${end.why}`];
  const facts = factsOf(plan, world);
  const verdict = judgeRun(facts);
  const surfaces = sameEverywhere(world);
  if (status.outcome !== end.outcome) return [...surfaces, `status says ${status.outcome}, the engine ${end.outcome}`];
  return [...surfaces, ...(end.outcome === 'done' ? ofDone(facts, verdict, status) : ofFailed(facts, verdict, status))];
}

function factsOf({ definition, record }: OraclePlan, { agents, repository, reading }: WorldEnd): OracleFacts {
  const { git, base, moves } = repository;
  return {
    definition,
    git: { ...git, head: git.head(reading.definition.name), base, delivered: moves.at(-1)?.to },
    record: endedByItself(record, agents),
  };
}

/** Whoever was cut short did nothing and said nothing. */
function endedByItself(record: WorldRecord, agents: SimulatedAgents): WorldRecord {
  const ended = new Set(agents.ran().flatMap(({ turnId, endedBy }) => (endedBy === 'itself' ? [turnId] : [])));
  const turns = record.turns.map((turn) => {
    if (ended.has(turn.id)) return turn;
    return {
      ...turn,
      isDone: false,
      answer: undefined,
      wrote: undefined,
      trouble: turn.trouble ?? cutShort(turn.id, agents),
    };
  });
  return { ...record, turns, checks: record.checks.filter(({ id }) => ended.has(id)) };
}

function cutShort(id: string, agents: SimulatedAgents): string | undefined {
  const by = agents.ran().find(({ turnId }) => turnId === id)?.endedBy;
  return by === undefined ? undefined : `ended by the ${by}`;
}

/** Headline, exit code and criteria, as each surface has them. */
function sameEverywhere({ shown, reading }: WorldEnd): string[] {
  const { status, screen, report } = shown;
  const { headline, exitCode, outcome } = status;
  if (headline === null || exitCode === null) return ['status has no headline or exit code'];
  const word = outcome === 'done' ? 'DONE' : 'FAILED';
  const plain = report.replaceAll('\\', '');
  const states = status.criteria.map(({ state, text }) => `${state.replace('-', ' ')} ${text}`);
  const rows = [...report.matchAll(/^\| (?:\*\*)?(met|failed|judged|not checked)(?:\*\*)? \| ([^|]+) \|/gm)];
  return [
    ...(headline.startsWith(`${word}, `) ? [] : [`the headline of a ${outcome ?? 'null'} run is ${headline}`]),
    ...(outcome === 'failed' && exitCode !== 1 ? [`a failed run has the exit code ${exitCode}`] : []),
    ...(screen.includes(`  ${headline.slice(0, 150)}`) ? [] : [`the screen does not say: ${headline}`]),
    ...(plain.includes(`**${headline.slice(0, 150)}`) ? [] : [`the report does not say: ${headline}`]),
    ...(report.includes(`Exit code ${exitCode}: `) ? [] : [`the report does not say exit code ${exitCode}`]),
    ...(isSame(
      rows.map(([, state, text]) => `${state ?? ''} ${text?.trim() ?? ''}`),
      states,
    )
      ? []
      : [`the report’s criteria are not those of status: ${states.join(', ')}`]),
    ...[screen, report].flatMap((text) =>
      headline.includes(VERIFIED) || !text.includes(VERIFIED)
        ? []
        : [`it says “${VERIFIED}” somewhere, and not in its headline`],
    ),
    ...(reading.questions.some(({ recorded }) => recorded === null) && outcome === 'done'
      ? reading.questions.map(({ id }) => `${id} is open`).filter((line) => line.startsWith('engine/run-branch'))
      : []),
  ];
}

function ofDone({ definition, record }: OracleFacts, verdict: Verdict, status: RunStatus): string[] {
  const { skipped, accepted, problems } = peopleIn(record, status);
  const { parts, isOpen } = headlineOf(verdict, { skipped, accepted });
  const said = partsOf(status.headline ?? '');
  const exit = definition.strict && isOpen ? 1 : 0;
  const states = status.criteria.map(({ state }) => state);
  const isFalselyVerified = said.includes(VERIFIED) && !parts.includes(VERIFIED);
  return [
    ...verdict.flaws.map((flaw) => `false DONE: ${flaw}`),
    ...problems.map((problem) => `false DONE: ${problem}`),
    ...(isFalselyVerified ? [`false VERIFIED: it is ${parts.join('; ')}`] : []),
    ...(isSame(said.toSorted(), parts.toSorted())
      ? []
      : [`the headline is “${status.headline ?? ''}”, not “DONE, ${parts.join('; ')}”`]),
    ...(status.exitCode === exit ? [] : [`the exit code is ${status.exitCode ?? 'none'}, not ${exit}`]),
    ...(isSame(states, verdict.criteria)
      ? []
      : [`criteria are ${states.join(', ')}, not ${verdict.criteria.join(', ')}`]),
  ];
}

/** A failure needs a cause in the world, and may claim nothing of a criterion that is not so. */
function ofFailed({ git, record }: OracleFacts, verdict: Verdict, status: RunStatus): string[] {
  const claims = status.criteria.flatMap(({ state }, index) => {
    const isTrue = state === 'not-checked' || state === verdict.criteria[index] || git.head !== git.delivered;
    return isTrue ? [] : [`criterion ${index} is shown as ${state}, and is ${verdict.criteria[index] ?? ''}`];
  });
  const gaveUp = /a person gave up on the run branch/.test(status.headline ?? '');
  return [
    ...claims,
    ...(verdict.troubles.length === 0 ? [`nothing went wrong, and it says: ${status.headline ?? ''}`] : []),
    ...(gaveUp && !record.answers.some(({ answer }) => answer === 'give up') ? ['nobody gave up on the branch'] : []),
  ];
}

/** Who said so of the tasks that status shows as skipped, or as done on a person's word. */
function peopleIn(record: WorldRecord, status: RunStatus) {
  const skipped = new Map<string, string[]>();
  const accepted = new Map<string, string[]>();
  const add = (to: Map<string, string[]>, by: string, task: string): void =>
    void to.set(by, [...(to.get(by) ?? []), task]);
  const problems: string[] = [];
  const named = partsOf(status.headline ?? '').filter((part) => part.startsWith('accepted by '));
  for (const { id, status: as } of status.tasks) {
    const word = record.words.find(({ task }) => task === id);
    const isNamed = named.some((part) => part.split(/: |, /).includes(id));
    if (as === 'skipped' && word?.verb === 'skip') add(skipped, word.by, id);
    // The council lets a silent member be.
    else if (as === 'skipped' && !/^(?:review|verify)-/.test(id)) problems.push(`${id} was skipped by nobody`);
    // A word that came once the task was delivered is none any more, and only the engine knows which was first.
    if (as === 'done' && word?.as === 'done' && isNamed) add(accepted, word.by, id);
    if ((as === 'failed' || as === 'cancelled') && !/^(?:review|verify|answer|judge|close)/.test(id)) {
      problems.push(`${id} is ${as}`);
    }
    if (as !== 'done' && as !== 'skipped' && as !== 'failed' && as !== 'cancelled') problems.push(`${id} is ${as}`);
  }
  return { skipped, accepted, problems };
}

function partsOf(headline: string): string[] {
  return headline
    .replace('DONE, ', '')
    .split('; ')
    .map((part) => {
      const [, head, list] = /^((?:skipped|accepted) by [^:]+: )(.*)$/.exec(part) ?? [];
      return head === undefined || list === undefined ? part : `${head}${list.split(', ').toSorted().join(', ')}`;
    });
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}
