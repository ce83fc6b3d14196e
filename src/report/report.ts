import { criteriaOf, type Conclusion } from '../graph/decisions/conclude.ts';
import { isJudge } from '../graph/decisions/gate.ts';
import { authorAttempts, statusOf as taskStatusOf } from '../graph/decisions/work-status.ts';
import { fullAccessWarning } from '../model/access.ts';
import { stateText, type RunState } from '../model/run-state.ts';
import { engineTime } from '../model/spending.ts';
import { utcTime } from '../text/time.ts';
import type { TaskState } from '../model/plan/board.ts';
import type { MailStatus } from '../substrate/ports/mailbox.ts';
import { failuresOf, type KeptRef } from '../read-model/explain-failure.ts';
import { block, code, inline, list, listSection, table, tableSection } from './markdown.ts';
import { standingOf, type RunStanding } from '../read-model/run-state.ts';
import type { RunHistory } from '../read-model/read-run.ts';
import { mailSection } from './report-mail.ts';
import { peopleSection } from './report-people.ts';
import { costSection, limitsSection, retriesSection } from './report-turns.ts';
import { failuresSection, followUpsSection, reviewsSection } from './report-work.ts';

/** The run branch in git. Subjects and paths come from agents. */
export interface GitFacts {
  /** The run branch's head; absent: there is no such branch. */
  readonly head?: string;
  readonly base: string;
  readonly commits: readonly { readonly commit: string; readonly subject: string }[];
  readonly diffStat: string;
  /** The refs that keep attempts; absent: none. */
  readonly kept?: readonly KeptRef[];
}

/** `report.md`, for people: how a run went, by the ledger, its mailbox and git. Escapes or fences text of agents and programs. */
export function renderReport(reading: RunHistory, now: number, git?: GitFacts, mail?: MailStatus): string {
  const standing = standingOf(reading, now);
  const sections = [
    headSection(reading, standing),
    getSection(reading, git),
    criteriaSection(reading),
    tasksSection(reading),
    changesSection(reading, git),
    failuresSection(reading, failuresOf(reading, git?.kept ?? [])),
    reviewsSection(reading),
    followUpsSection(reading),
    costSection(reading),
    limitsSection(reading),
    retriesSection(reading),
    questionsSection(reading),
    mailSection(mail),
    peopleSection(reading),
    warningsSection(reading),
  ];
  return `${sections.flatMap((section) => (section === undefined ? [] : [section])).join('\n\n')}\n`;
}

function headSection(reading: RunHistory, standing: RunStanding): string {
  const { row, definition, segments, limits, workspace } = reading;
  const { title, deadline } = definition.objective;
  const unconfined = fullAccessWarning(definition.agents);
  const [word, meaning] = headline(standing);
  const lines = [
    `Run ${code(row.name)} (${code(row.id)}), playbook ${code(definition.playbook)}`,
    `Exit code ${meaning}`,
    `Started ${utcTime(row.createdAt)}; ${duration(engineTime(segments))} of engine time of at most ${duration(limits.minutes * 60_000)}`,
    ...(segments.length > 1 ? [`Engine started ${segments.length} times`] : []),
    ...(deadline === undefined ? [] : [`Deadline ${utcTime(deadline)}`]),
    ...(unconfined === undefined ? [] : [`**Unconfined:** ${inline(unconfined)}`]),
    ...(workspace === undefined
      ? []
      : [`Branch ${code(workspace.branch)}, from commit ${code(short(workspace.base))}`]),
  ];
  return [`# ${inline(title) || 'Report'}`, `**${word}.**`, ...whyOf(reading, standing), list(lines)].join('\n\n');
}

/** The state in a word, and what it means for the exit code. */
function headline({ state, conclusion, waitingFor }: RunStanding): [string, string] {
  if (conclusion !== null) return [inline(conclusion.headline), codeMeaning(conclusion)];
  return [stateText(state), exitText(state, waitingFor)];
}

function exitText(state: RunState, waitingFor: RunStanding['waitingFor']): string {
  if (waitingFor?.for === 'answer') return '3: waits for a person; `squad answer`, then `squad resume`';
  if (waitingFor?.for === 'time') return '4: waits for a limit to reset; `squad resume` continues';
  if (state === 'stopped') {
    return '4: stopped at a limit or on request (130 or 143 after a signal); `squad resume` continues';
  }
  if (state === 'interrupted') return '130 or 143, or none: interrupted; `squad resume` continues';
  return 'none yet: the run is not over';
}

function codeMeaning({ outcome, exitCode }: Conclusion): string {
  if (outcome === 'failed') return '1: finished with failed work';
  return exitCode === 0 ? '0: finished' : '1: finished, and `strict` asks for more than was checked';
}

function whyOf({ board, published, decided }: RunHistory, { waitingFor }: RunStanding): string[] {
  // The headline shows only what fits on one line.
  const lines = board.finished?.why.includes('\n') === true ? board.finished.why : '';
  const reasons = [published === undefined ? (waitingFor?.why ?? decided?.why ?? '') : lines];
  return reasons
    .map((reason) => reason.trim())
    .filter((reason) => reason !== '')
    .map((reason) => (reason.length > 200 || reason.includes('\n') ? block(reason) : inline(reason)));
}

function getSection(
  { definition, workspace, published, board }: RunHistory,
  git: GitFacts | undefined,
): string | undefined {
  if (workspace === undefined) return undefined;
  const head = git?.head ?? published?.head;
  const { branch } = workspace;
  const title = '## Get the work';
  if (head === undefined || head === workspace.base) {
    const what = head === undefined ? 'is not settled yet' : 'is where it began: nothing was delivered';
    return `${title}\n\nThe run branch ${code(branch)} ${what}. Your own branch is untouched.`;
  }
  const onto = definition.repository.branch;
  const commands = [
    `git log --oneline ${short(workspace.base)}..${branch}`,
    `git diff ${short(workspace.base)}...${branch}`,
    `git merge ${branch}`,
  ];
  const target = onto === undefined ? '' : ` (from ${inline(onto)})`;
  return [
    title,
    `Everything delivered is on ${code(branch)} at ${code(short(head))}. Your own branch${target} is untouched.`,
    ...missingLines(board),
    `\`\`\`sh\n${commands.join('\n')}\n\`\`\``,
    ...(published?.remote === undefined ? [] : [`Pushed to ${inline(published.remote)}.`]),
    ...(published?.pr === undefined ? [] : [`Pull request: ${inline(published.pr)}`]),
  ].join('\n\n');
}

/** Warns that the branch has only a part of the work. */
function missingLines(board: RunHistory['board']): string[] {
  const missing = [...board.tasks.values()]
    .toSorted((a, b) => a.order - b.order)
    .map((state) => ({ state, status: taskStatusOf(state, board) }))
    .filter(({ state, status }) => status !== 'done' && !isJudge(state.task))
    .map(({ state: { task }, status }) => `${code(task.id)} (${inline(task.title, 80)}): ${status}`);
  if (missing.length === 0) return [];
  return ['**This is not all of the work.** A merge leaves out:', list(missing)];
}

function criteriaSection(reading: RunHistory): string | undefined {
  const criteria = criteriaOf(reading.board);
  const rows = criteria.map(({ text, state, by, evidence }, index) => {
    const none =
      reading.board.facts.objective.criteria[index]?.command === undefined
        ? 'it has no command, and no independent reviewer judged it'
        : 'not run on the result';
    return [
      state === 'met' ? '**met**' : state.replace('-', ' '),
      inline(text),
      by === null ? '' : by === 'engine' ? 'squad' : inline(by),
      evidence === null ? none : inline(evidence),
    ];
  });
  return tableSection('Success criteria', ['state', 'criterion', 'checked by', 'evidence'], rows);
}

function tasksSection({ board }: RunHistory): string {
  const tasks = [...board.tasks.values()].toSorted((a, b) => a.order - b.order);
  if (tasks.length === 0) return '## Tasks\n\nNone were planned.';
  const rows = tasks.map((state: TaskState) => {
    const { task, work } = state;
    return [
      code(task.id),
      inline(task.title, 80),
      taskStatusOf(state, board),
      String(work.round),
      String(authorAttempts(work)),
      task.kind === 'work' ? work.authors.map((agent) => inline(agent)).join(', ') : 'squad',
      work.commit === null ? '' : code(short(work.commit)),
    ];
  });
  return `## Tasks\n\n${table(['task', 'what', 'status', 'round', 'attempts', 'agent', 'commit'], rows)}`;
}

function changesSection({ workspace }: RunHistory, git: GitFacts | undefined): string | undefined {
  if (git === undefined || workspace === undefined || git.commits.length === 0) return undefined;
  const shown = git.commits.slice(0, 100).map(({ commit, subject }) => `- ${code(short(commit))} ${inline(subject)}`);
  const more = git.commits.length > 100 ? [`- and ${git.commits.length - 100} more`] : [];
  const stat = git.diffStat.trim() === '' ? [] : [block(git.diffStat, 20_000)];
  return ['## Changes', [...shown, ...more].join('\n'), ...stat].join('\n\n');
}

function questionsSection({ answers, questions }: RunHistory): string | undefined {
  const rows = [
    ...answers.map(({ question, text, answer, by }) => [inline(question), inline(text), inline(answer), inline(by)]),
    ...questions.map(({ id, text, recorded }) => [
      inline(id),
      inline(text),
      recorded === null ? 'open' : `${inline(recorded)} (recorded, not yet applied)`,
      '',
    ]),
  ];
  return tableSection('Questions', ['question', 'asked', 'answer', 'by'], rows);
}

function warningsSection({ published, walls }: RunHistory): string | undefined {
  const lines = [
    ...(published?.kept ?? []).map(({ path, why }) => `Folder kept: ${inline(path)} (${inline(why)})`),
    ...walls.map(({ attempt, why }) => `${code(attempt)} stalled: ${inline(why)}`),
  ];
  return listSection('Warnings', lines);
}

function short(commit: string): string {
  return commit.slice(0, 12);
}

function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 120 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
