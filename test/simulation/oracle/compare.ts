import type { RunStatus } from '../../../src/view/status.ts';
import type { SimulatedAgents } from '../world/simulated-agents.ts';
import type { WorldEnd } from '../world/simulated-world.ts';
import { unnamedCause } from './first-cause.ts';
import { stageOf } from './stage-of.ts';
import { headlineOf, judgeRun, lostOrders, type OracleFacts, type Verdict } from './oracle.ts';
import { openParts } from './said-missing.ts';
import type { OraclePlan } from './oracle-plan.ts';
import { SLOW, type WorldRecord } from './record.ts';

const VERIFIED = 'all work is delivered and verified';
/** What a headline says of a run that is done, and has not all that was asked for. */
const OPEN = /the run continued without|not answered|documentation|open:|refused/;

/** Everything in which what is told of a run differs from what the oracle says; none for a good one. */
export function differences(plan: OraclePlan, world: WorldEnd): string[] {
  const { end, shown } = world;
  const { status } = shown;
  if (end.end !== 'finished') return [`it has not finished: ${end.why}`];
  // A person's word came while the run ended: a resume goes on with it.
  if (status.outcome === null && world.reading.pendingRequests.length > 0) return [];
  const facts = factsOf(plan, world);
  const verdict = judgeRun(facts);
  const surfaces = sameEverywhere(world);
  if (status.outcome !== end.outcome) return [...surfaces, `status says ${status.outcome}, the engine ${end.outcome}`];
  return [...surfaces, ...(end.outcome === 'done' ? ofDone(facts, verdict, status) : ofFailed(facts, verdict, status))];
}

function factsOf({ definition, record }: OraclePlan, { agents, repository, reading, shown }: WorldEnd): OracleFacts {
  const { git, base, moves } = repository;
  return {
    definition,
    git: { ...git, head: git.head(reading.definition.name), base, delivered: moves.at(-1)?.to },
    record: endedByItself(record, agents),
    leftOut: leftOutIn(shown.status.headline ?? ''),
  };
}

/** Whoever was cut short did nothing and said nothing. */
function endedByItself(record: WorldRecord, agents: SimulatedAgents): WorldRecord {
  const ended = new Set(agents.ran().flatMap(({ turnId, endedBy }) => (endedBy === 'itself' ? [turnId] : [])));
  const turns = record.turns.map((turn) => {
    // A slow one that was waited for was no fault.
    if (ended.has(turn.id)) return turn.wrong === SLOW ? { ...turn, wrong: undefined } : turn;
    return {
      ...turn,
      isDone: false,
      answer: undefined,
      wrote: undefined,
      trouble: turn.trouble ?? cutShort(turn.id, agents),
      wrong: turn.wrong ?? cutShort(turn.id, agents) ?? 'ended by the engine',
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

function ofDone(facts: OracleFacts, verdict: Verdict, status: RunStatus): string[] {
  const { definition, record } = facts;
  const { skipped, accepted, problems } = peopleIn(record, status);
  const known = headlineOf(verdict, { skipped, accepted });
  const lost = lostOrders(facts).map((why) => ({ part: /refused/, why }));
  const open = [...openParts(facts), ...lost];
  // Who reads a message in other work may do nothing of what it asks for.
  const allowed = hasOrderWithoutTask(record) ? [...open, { part: /refused/ }] : open;
  // Simulated agents report no use of tools.
  const all = partsOf(status.headline ?? '').filter(
    (part) => !part.startsWith('approved without looking: ') && !isReplacement(part, record),
  );
  const [said, more] = [all.filter((part) => !OPEN.test(part)), all.filter((part) => OPEN.test(part))];
  const parts = more.length > 0 ? known.parts.filter((part) => part !== VERIFIED) : known.parts;
  const isOpen = known.isOpen || open.length > 0 || more.length > 0;
  const exit = definition.strict && isOpen ? 1 : 0;
  const states = status.criteria.map(({ state }) => state);
  const isFalselyVerified = said.includes(VERIFIED) && !parts.includes(VERIFIED);
  return [
    ...verdict.flaws.map((flaw) => `false DONE: ${flaw}`),
    ...problems.map((problem) => `false DONE: ${problem}`),
    ...open.flatMap(({ part, why }) => (more.some((one) => part.test(one)) ? [] : [`false VERIFIED: ${why}`])),
    ...(verdict.troubles.length === 0
      ? more.flatMap((said) =>
          allowed.some(({ part }) => part.test(said)) ? [] : [`nothing is open, and it says: ${said}`],
        )
      : []),
    ...(isFalselyVerified ? [`false VERIFIED: it is ${parts.join('; ')}`] : []),
    ...(isSame(said.toSorted(), [...parts, ...flakyIn(record)].toSorted())
      ? []
      : [`the headline is “${status.headline ?? ''}”, not “DONE, ${[...parts, ...flakyIn(record)].join('; ')}”`]),
    ...(status.exitCode === exit ? [] : [`the exit code is ${status.exitCode ?? 'none'}, not ${exit}`]),
    ...(isSame(states, verdict.criteria)
      ? []
      : [`criteria are ${states.join(', ')}, not ${verdict.criteria.join(', ')}`]),
  ];
}

function hasOrderWithoutTask({ orders, turns }: WorldRecord): boolean {
  return orders.some(({ id }) => !turns.some(({ prompt }) => prompt.includes(`see the message ${id}`)));
}

/** It says who judged in place of whom, and that one gave no verdict, and the other one did. */
function isReplacement(part: string, { turns }: WorldRecord): boolean {
  const [, by, task, of] = /^(\S+) was asked about (\S+) in place of (\S+), who gave no verdict$/.exec(part) ?? [];
  const has = (agent: string | undefined, isDone: boolean): boolean =>
    turns.some((turn) => turn.agent === agent && turn.task === task && turn.isDone === isDone && !turn.owns);
  return by !== undefined && has(of, false) && has(by, true);
}

/** Commands that failed and then passed on the same commit. What the base commit says before any work is told elsewhere. */
function flakyIn({ checks }: WorldRecord): string[] {
  const own = checks.filter(({ id }) => !id.includes('.baseline-'));
  const flaky = own.flatMap((one, index) => {
    const next = own.slice(index + 1).filter(({ command, commit }) => command === one.command && commit === one.commit);
    return !one.passed && next.some(({ passed }) => passed) ? [one.command] : [];
  });
  const names = [...new Set(flaky)].map((run) => `\`${run}\``).join(', ');
  return flaky.length === 0 ? [] : [`flaky (failed and passed on the same commit): ${names}`];
}

/** A failure needs a cause in the world, and may claim nothing of a criterion that is not so. */
function ofFailed(facts: OracleFacts, verdict: Verdict, status: RunStatus): string[] {
  const { git, record } = facts;
  const claims = status.criteria.flatMap(({ state }, index) => {
    const isTrue = state === 'not-checked' || state === verdict.criteria[index] || git.head !== git.delivered;
    return isTrue ? [] : [`criterion ${index} is shown as ${state}, and is ${verdict.criteria[index] ?? ''}`];
  });
  const gaveUp = /a person gave up on (?:the run branch|it)/.test(status.headline ?? '');
  return [
    ...claims,
    ...(verdict.troubles.length === 0 ? [`nothing went wrong, and it says: ${status.headline ?? ''}`] : []),
    ...(gaveUp ? [] : unnamedCause(facts, status)),
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
  const left = new Set(leftOutIn(status.headline ?? ''));
  // It names a stage, whichever pass of it was left out, and what a person skipped ends the rest of its piece.
  const isLeftOut = (id: string): boolean => left.has(id) || left.has(stageOf(id, left));
  const named = partsOf(status.headline ?? '').filter((part) => part.startsWith('accepted by '));
  for (const { id, status: as } of status.tasks) {
    const word = record.words.find(({ task }) => task === id);
    const isNamed = named.some((part) => part.split(/: |, /).includes(id));
    if (as === 'skipped' && word?.verb === 'skip') add(skipped, word.by, id);
    // Of what was left out otherwise, the headline says so.
    else if (as === 'skipped' && !isLeftOut(id)) problems.push(`${id} was skipped by nobody`);
    // A word that came once the task was delivered is none any more, and only the engine knows which was first.
    if (as === 'done' && word?.as === 'done' && isNamed) add(accepted, word.by, id);
    if ((as === 'failed' || as === 'cancelled') && !/^(?:answer|judge)/.test(id) && !isLeftOut(id)) {
      problems.push(`${id} is ${as}`);
    }
    if (as !== 'done' && as !== 'skipped' && as !== 'failed' && as !== 'cancelled') problems.push(`${id} is ${as}`);
  }
  return { skipped, accepted, problems };
}

/** The tasks that a headline says the run continued without. */
function leftOutIn(headline: string): string[] {
  const parts = partsOf(headline).filter((part) => part.includes('the run continued without'));
  return parts.flatMap((part) => (part.toLowerCase().split(' the run ')[0] ?? '').split(/[ ,]+/));
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
