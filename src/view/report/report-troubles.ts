import { checkerText } from '../../model/plan/checker.ts';
import { accountText } from '../../model/wall-text.ts';
import { checkNotesOf } from '../../rules/check-notes.ts';
import { checkerChangesOf, checksAtBase } from '../../rules/checkers.ts';
import { blindApprovals } from '../../rules/looks.ts';
import { silentTasks } from '../../rules/silent-judges.ts';
import { counted } from '../../text/counted.ts';
import { utcTime } from '../../text/time.ts';
import type { RunHistory, RunReading } from '../read-run.ts';
import {
  type Block,
  code,
  cut,
  listSection,
  ownWords,
  paragraph,
  type Section,
  tableSection,
  type Text,
  words,
} from './document.ts';

const MOST_COMMAND = 120;
const MOST_PATHS = 400;

const LOOKS_SAID = [
  ['none', ', who used no tool: without looking'],
  ['unknown', '. It is not known whether it looked, because its runtime does not report its tools'],
] as const;

const MOST_ROWS = 1_000;
/** A task that failed has several. */
const MOST_BLOCKS = 1_000;

const MOST_WHY = 300;

/** The judges that gave no verdict, why, and what followed. */
export function silentJudgesSection({ board }: Pick<RunReading, 'board'>): Section | undefined {
  const skipped = silentTasks(board);
  const rows = [...board.tasks.values()].flatMap(({ task, work }): Text[][] => {
    const row = (round: number, role: string, agent: string, then: Text, why: string): Text[] => [
      code(task.id),
      ownWords(String(round)),
      role,
      agent,
      then,
      cut(why, MOST_WHY),
    ];
    const { phase } = work;
    const place = skipped.get(task.id);
    const agent = work.author.thread?.agent ?? '';
    const why = phase.at === 'ended' ? phase.why : '';
    return [
      ...(work.replaced ?? []).map((one) => row(one.round, one.role, one.agent, `${one.by} was asked`, one.why)),
      ...work.rounds.flatMap(({ round, silent = [] }) =>
        silent.map((one) => row(round, one.role, one.agent, ownWords(SKIPPED), one.why)),
      ),
      ...(place === undefined ? [] : [row(place.pass, place.role, agent, ownWords(SKIPPED), why)]),
    ];
  });
  return tableSection('Judges without a verdict', ['task', 'round', 'role', 'agent', 'then', 'why'], rows);
}

const SKIPPED = 'decided without it';

/** The work that was done on another runtime than its agent's own. */
export function standInsSection({ board }: Pick<RunReading, 'board'>): Section | undefined {
  const rows = [...board.tasks.values()].flatMap(({ task, work }) =>
    work.standIns.map(({ agent, account, insteadOf, review, isAuthors }): Text[] => [
      code(task.id),
      agent,
      ownWords(review === null ? 'author' : `review as ${review}`),
      account,
      insteadOf,
      ownWords(isAuthors === true ? "reviewed on the author's own runtime" : ''),
    ]),
  );
  return tableSection('Stand-ins', ['task', 'agent', 'work', 'worked on', 'in place of', 'note'], rows);
}

/** Stalls of turns and limits of accounts, with what ended them, in order of time. */
export function wallsSection({ walls, accounts }: Pick<RunHistory, 'walls' | 'accounts'>): Section | undefined {
  const rows = [
    ...walls.flatMap(({ attempt, why, at, cleared }) => [
      { at, who: code(attempt), what: why },
      ...(cleared === undefined ? [] : [{ at: cleared.at, who: code(attempt), what: cleared.why }]),
    ]),
    ...accounts.map((event) => ({ at: event.at, who: event.account, what: accountText(event, utcTime) })),
  ].toSorted((a, b) => a.at - b.at);
  return tableSection(
    'Stalls and usage limits',
    ['when', 'who', 'what'],
    rows.map(({ at, who, what }): Text[] => [ownWords(utcTime(at)), who, what]),
  );
}

/** A section of a run of any length, and how much is missing in it. */
export function boundedSection({ title, blocks }: Section): Section {
  const shown = blocks.slice(0, MOST_BLOCKS).flatMap(boundedBlock);
  return { title, blocks: [...shown, ...missing(blocks.length - MOST_BLOCKS, 'paragraphs')] };
}

function boundedBlock(block: Block): Block[] {
  switch (block.is) {
    case 'table':
      return [{ ...block, rows: block.rows.slice(0, MOST_ROWS) }, ...missing(block.rows.length - MOST_ROWS, 'rows')];
    case 'list':
      return [
        { ...block, items: block.items.slice(0, MOST_ROWS) },
        ...missing(block.items.length - MOST_ROWS, 'lines'),
      ];
    case 'heading':
    case 'paragraph':
    case 'quote':
    case 'commands':
      return [block];
    default:
      return block satisfies never;
  }
}

function missing(count: number, what: string): Block[] {
  if (count <= 0) return [];
  return [paragraph(words`${count} more ${ownWords(what)} are not shown: ${code('squad log --raw')} has everything.`)];
}

/** Doubts about the checks: the work changed them, they are flaky, or an approver did not look. */
export function checksSection({ board }: RunReading): Section | undefined {
  const { flaky, changed } = checkNotesOf(board);
  return listSection('Checks', [
    ...checkerChangesOf(board).map(
      (change) => words`The work changed what checks it: ${cut(checkerText(change), MOST_PATHS)}`,
    ),
    ...checksAtBase(board).map(({ run, passed, output }) => {
      const result = passed ? ownWords('passes') : words`fails: ${cut(output, MOST_PATHS)}`;
      return words`With the checks as they were at the base, “${cut(run, MOST_COMMAND)}” ${result}`;
    }),
    ...LOOKS_SAID.flatMap(([how, said]) =>
      blindApprovals(board, how).map(({ task, by }) => words`${code(task)} was approved by ${by}${ownWords(said)}`),
    ),
    ...flaky.map((run) => words`Flaky, because it failed and passed on the same commit: ${cut(run, MOST_COMMAND)}`),
    ...changed.map(({ run, paths, more }) => {
      const count = paths.length + more;
      const they = count === 1 ? 'which is not part of the work' : 'which are not part of the work';
      const rest = more === 0 ? '' : ` and ${more} more`;
      const files = words`${ownWords(counted(count, 'file'))}, ${ownWords(they)} (${cut(paths.join(', '), MOST_PATHS)}${ownWords(rest)})`;
      return [...words`Changed `, ...files, ...words`: ${cut(run, MOST_COMMAND)}`];
    }),
  ]);
}
