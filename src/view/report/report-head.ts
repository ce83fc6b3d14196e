import { fullAccessWarning, unconfinedWarning } from '../../model/access.ts';
import { writeAgainCommand } from '../../model/folder-written.ts';
import { applicationWarning, experimentalWarning } from '../../model/runtime-description.ts';
import { folderOf, type RepositoryView } from '../../model/repositories.ts';
import { stateText, type RunState } from '../../model/run-state.ts';
import { placeText } from '../../model/shown-stage.ts';
import type { RunHistory } from '../read-run.ts';
import type { RunView } from '../run-view.ts';
import { utcTime } from '../../text/time.ts';
import { TYPED_OBJECTIVE } from '../../model/typed-objective.ts';
import { isSaid } from '../../text/reasons.ts';
import { code, list, ownWords, paragraph, quote, strong, words, type Block, type Text, type Tone } from './document.ts';
import { endOf } from './timeline.ts';

/** The outcome and the facts of the whole run. */
export function aboutOf(reading: RunHistory, view: RunView, now: number): Block[] {
  const { definition, segments, workspace } = reading;
  const { runId, name, parent, playbook, folder, written, deadline, prompts } = view.run;
  const { stage, baseline } = view.plan;
  const free = [fullAccessWarning(definition.agents), unconfinedWarning(definition), applicationWarning(definition)];
  const unconfined = free.flatMap((one) => one ?? []);
  const experimental = experimentalWarning(definition);
  const [word, meaning, tone] = headline(view, reading.driven);
  const lines = [
    words`Run ${code(name)} (${code(runId)}), playbook ${code(playbook)}`,
    ...(folder === null ? [sourceText(view.run.source)] : []),
    ...written.map((one) => folderText(one, name)),
    ...(stage === null
      ? []
      : [words`Stage ${placeText({ stage, ...stage })}, ${ownWords(view.stages[stage.place - 1]?.state ?? '')}`]),
    words`Exit code ${meaning}`,
    timesOf(reading, view, now),
    ...(segments.length > 1 ? [words`Engine started ${segments.length} times`] : []),
    ...(parent === null
      ? []
      : [words`A fork of ${code(parent.name)} at event ${parent.seq}; the turns before that are in its report`]),
    ...(deadline === null ? [] : [words`Deadline ${ownWords(utcTime(deadline))}`]),
    ...(prompts.changed.length === 0
      ? []
      : [words`Prompts ${code(prompts.hash ?? 'unknown')}; the repository has changed ${prompts.changed.join(', ')}`]),
    ...baseline.map((one) => words`Before the work: ${one}`),
    ...unconfined.map((one) => words`${strong(ownWords('Unconfined:'))} ${one}`),
    ...(experimental === undefined ? [] : [words`${strong(ownWords('Experimental:'))} ${experimental}`]),
    ...(workspace === undefined
      ? []
      : workspace.branch === undefined
        ? [words`No branch; begun at commit ${code(short(workspace.base))}`]
        : [words`Branch ${code(workspace.branch)}, from commit ${code(short(workspace.base))}`]),
  ];
  const repositories = (view.run.repositories ?? []).map((one) => repositoryText(name, one));
  return [paragraph(strong(words`${word}.`, tone)), ...whyOf(reading, view), list([...lines, ...repositories])];
}

function repositoryText(run: string, { name, role, path, head, pr }: RepositoryView): Text {
  const place =
    name === ''
      ? words`Repository ${code(path)}`
      : words`Repository ${code(path)}, in ${code(folderOf(name))} (${role})`;
  if (head === null) return words`${place}: no branch of its own`;
  const branch = words`${place}: branch ${code(`squad/${run}`)} at ${code(short(head))}`;
  return pr === undefined ? branch : words`${branch}, pull request ${pr}`;
}

function sourceText(source: string): Text {
  return source === TYPED_OBJECTIVE ? ownWords('Objective as it was typed') : words`Objective from ${code(source)}`;
}

function folderText({ sink, folder, problem }: RunView['run']['written'][number], name: string): Text {
  const title = ownWords(`${sink.slice(0, 1).toUpperCase()}${sink.slice(1)}`);
  if (problem === null) return words`${title} ${code(folder)}, whose files say what it has done`;
  const command = code(writeAgainCommand(name));
  return words`${title} ${code(folder)}, whose files are not complete: ${problem}. ${command} writes them again`;
}

/** Start, end, and how long it took by the clock and by the engine. */
function timesOf({ segments, attempts, driven }: RunHistory, { run, use }: RunView, now: number): Text {
  const ended = driven ? undefined : endOf({ segments, attempts }, now);
  const wall = duration(Math.max(0, (ended ?? now) - run.startedAt));
  const end = ended === undefined ? 'not over' : `ended ${utcTime(ended)}`;
  const engine = `${duration(use.elapsedMs)} of engine time of at most ${duration(use.limits.minutes * 60_000)}`;
  return ownWords(`Started ${utcTime(run.startedAt)}; ${end}; ${wall} by the clock; ${engine}`);
}

/** The state in a word, what it means for the exit code, and whether that is good: not while a criterion is not checked. */
function headline({ run: { state }, plan, waits, end }: RunView, driven: boolean): [string, Text, Tone | undefined] {
  if (end === null) return [stateText(state), driven ? NO_EXIT : exitText(state, waits.waitingFor), undefined];
  let isWhole = true;
  for (const { state: criterion } of plan.criteria) isWhole &&= criterion !== 'not-checked';
  return [end.headline, codeMeaning(end), end.outcome !== 'done' ? 'bad' : isWhole ? 'good' : undefined];
}

const NO_EXIT = ownWords('none yet: the run is not over');

function exitText(state: RunState, waitingFor: RunView['waits']['waitingFor']): Text {
  const resume = words`${code('squad resume')} continues`;
  if (waitingFor?.for === 'answer') {
    return words`3: waits for a person; ${code('squad answer')}, then ${code('squad resume')}`;
  }
  if (waitingFor?.for === 'time') return words`4: waits for a limit to reset; ${resume}`;
  if (state === 'stopped') return words`4: stopped at a limit or on request (130 or 143 after a signal); ${resume}`;
  if (state === 'interrupted') return words`130 or 143, or none: interrupted; ${resume}`;
  return NO_EXIT;
}

function codeMeaning({ outcome, exitCode }: NonNullable<RunView['end']>): Text {
  if (outcome === 'failed') return ownWords('1: finished with failed work');
  if (outcome === 'cancelled') return ownWords('1: a person cancelled it');
  if (exitCode === 0) return ownWords('0: finished');
  return words`1: finished, and ${code('strict')} asks for more than was checked`;
}

function whyOf({ board, published, decided }: RunHistory, { waits: { waitingFor }, end }: RunView): Block[] {
  // The headline shows only what fits on one line.
  const lines = board.finished?.why.includes('\n') === true ? board.finished.why : '';
  const reasons = [published === undefined ? (waitingFor?.why ?? decided?.why ?? '') : lines];
  return reasons
    .map((reason) => reason.trim())
    .filter((reason) => reason !== '' && !isSaid(reason, end?.headline ?? ''))
    .map((reason) => (reason.length > 200 || reason.includes('\n') ? quote(reason) : paragraph(reason)));
}

export function short(commit: string): string {
  return commit.slice(0, 12);
}

export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 120 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
