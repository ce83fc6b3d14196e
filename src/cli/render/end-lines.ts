import { folderOf, type RepositoryView } from '../../model/repositories.ts';
import type { RunEnd } from '../../view/running-run.ts';
import type { Output } from '../output.ts';
import { onScreen, type Colour } from './screen.ts';
import { plainLine } from '../../text/plain-text.ts';
import { failureLines, rejectionLines } from './failure-lines.ts';
import { reasons, isSaid } from '../../text/reasons.ts';

const COLOURS: readonly Colour[] = [
  [/^DONE\b.* not checked\b.*/, ['bold', 'yellow']],
  [/^DONE\b.*/, ['bold', 'green']],
  [/^(?:FAILED|CANCELLED)\b.*/, ['bold', 'red']],
  [/^\S.*/, ['bold', 'yellow']],
  [/^ {2}(?:failed|stuck|denied|error)(?= )/, 'red'],
  [/^ {2}\S+(?= )/, 'dim'],
];

export function printEndLines(end: RunEnd, output: Output): void {
  const lines = endLines(end);
  output.line(output.terminal === undefined ? lines.join('\n') : onScreen(lines, output, COLOURS));
}

/** How a run ended, for people, and what comes next. */
export function endLines({
  name,
  outcome,
  headline,
  branch,
  head,
  pushed,
  repositories,
  report,
  failures,
  rejections,
  baseline = [],
  next,
  questions,
}: RunEnd): string[] {
  const at = head === undefined ? '' : ` at ${head.slice(0, 12)}`;
  const [question, ...others] = questions.map(({ text }) => plainLine(text, 600));
  const isAsked = question !== undefined && others.length === 0 && isSaid(question, headline);
  const first = question === undefined || isAsked ? plainLine(reasons(headline), 1000) : waitsFor(questions.length);
  return [
    '',
    first,
    `  run       ${name}`,
    ...questions.flatMap(({ id, text, options, plan }) => [
      ...(isAsked ? [] : [`  asks      ${plainLine(text, 600)}`]),
      ...(plan === undefined ? [] : [`  plan      squad show plan --run ${name}   (on a page: squad watch --web)`]),
      `  answer    squad answer ${id} "${options[0] ?? 'your answer'}"${options.length > 1 ? `   (${options.map((one) => `“${plainLine(one, 60)}”`).join(' or ')})` : ''}`,
      ...(plan === undefined ? [] : ['  change    squad answer --edit']),
    ]),
    ...[...failureLines(failures, first), ...rejectionLines(rejections, first)].map((line) => `  ${line}`),
    ...baseline.map((one) => `  before    ${plainLine(one, 400)}`),
    ...(branch === undefined ? [] : [`  branch    ${branch}${at}`]),
    ...(repositories === undefined ? [] : repositoryLines(name, repositories).map((line) => `  got       ${line}`)),
    ...(pushed === undefined || repositories !== undefined ? [] : pushedLines(pushed)),
    `  report    ${report}`,
    ...nextSteps({ outcome, name, failures, next }),
  ];
}

function waitsFor(count: number): string {
  return `WAITING for ${count === 1 ? 'an answer' : `${count} answers`}`;
}

/** The branch of each repository of a run. */
export function repositoryLines(run: string, all: readonly RepositoryView[]): string[] {
  return all.map(({ name, path, head, remote, pr }) => {
    const place = `${name === '' ? 'top folder' : folderOf(name)} (${plainLine(path, 300)})`;
    if (head === null) return `${place}: no branch`;
    const pushed = remote === undefined ? '' : `, pushed to ${plainLine(remote)} with your login`;
    const opened = pr === undefined ? '' : `, opened ${plainLine(pr, 300)} in your name`;
    return `${place}: squad/${run} at ${head.slice(0, 12)}${pushed}${opened}`;
  });
}

function pushedLines({ branch, head, remote, pr }: NonNullable<RunEnd['pushed']>): string[] {
  return [
    `  pushed    ${branch} at ${head.slice(0, 12)} to ${plainLine(remote)}, with your login`,
    ...(pr === undefined ? [] : [`  opened    ${plainLine(pr, 300)}, in your name`]),
  ];
}

function nextSteps({
  outcome,
  name,
  failures,
  next,
}: Pick<RunEnd, 'outcome' | 'name' | 'failures' | 'next'>): string[] {
  const shown = new Set(failures.flatMap((failure) => failure.next));
  const work = next.filter((command) => !shown.has(command)).map((command) => labelled(command));
  switch (outcome) {
    case 'done':
      return work;
    case 'failed':
    case 'cancelled':
      return [`  see       squad report ${name}`, ...work];
    case 'waiting':
      return [`  then      squad resume ${name}`];
    case 'stopped':
    case 'interrupted':
      return [`  continue  ${next[0] ?? `squad resume ${name}`}`];
  }
}

function labelled(command: string): string {
  const label = command.startsWith('squad diff ') ? 'look' : / ?squad merge /.test(command) ? 'take it' : 'next';
  return `  ${label.padEnd(10)}${plainLine(command, 1000)}`;
}
