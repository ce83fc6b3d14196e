import type { Attempt, Settlement } from '../../../model/attempt.ts';
import type { Usage } from '../../../model/usage.ts';
import { defined } from '../../../text/defined.ts';
import { fileName } from '../../../text/file-name.ts';
import { fieldsOf } from '../../../text/json.ts';
import { plainJsonText } from '../../../text/plain-text.ts';
import { isoTime } from '../../../text/time.ts';
import { code, cut, list, ownWords, paragraph, quote, words, type Block, type Section } from '../document.ts';
import { renderMarkdown } from '../markdown.ts';
import type { RunFile } from './run-file.ts';

/** A settled turn, and what its run knows of it. */
export interface SettledTurn {
  readonly run: string;
  /** As the plan calls it: `<task>-<number>`. */
  readonly name: string;
  readonly attempt: Pick<Attempt, 'id' | 'taskId' | 'number' | 'agent' | 'runtime' | 'request' | 'claimedAt'>;
  readonly settlement: Pick<Settlement, 'at' | 'result'>;
  readonly role: string;
  /** Absent: the run has no stages, or this task is in none. */
  readonly stage?: string | undefined;
  readonly title: string;
  /** It judged the work of others. */
  readonly isReview: boolean;
}

const MOST_ASKED = 1_500;
const MOST_ANSWERED = 20_000;

/** The file of `history/` about one turn: who did what when, at what cost, what it was asked, and what it answered. */
export function turnFile(turn: SettledTurn): RunFile {
  const { name, attempt, settlement, title } = turn;
  const time = isoTime(settlement.at).replaceAll(/[:.]/g, '-');
  const document = renderMarkdown({
    title: words`${code(name)}: ${cut(title, 120)}`,
    about: [],
    sections: [askedSection(turn), answerSection(turn)],
  });
  const front = Object.entries(frontOf(turn)).map(([key, value]) => `${key}: ${plainJsonText(value)}`);
  return {
    path: `history/${fileName(`${time}-${attempt.agent}-${name}`)}.md`,
    text: `---\n${front.join('\n')}\n---\n\n${document}`,
  };
}

/** Each value as JSON, which YAML reads too. */
function frontOf({ run, attempt, settlement, role, stage, isReview }: SettledTurn): Record<string, string | number> {
  const { result, at } = settlement;
  const { taskId: task, number, agent, runtime, claimedAt } = attempt;
  const kind = isReview ? 'review' : 'work';
  return defined({
    ...{ run, task, attempt: number, stage, agent, role, runtime, kind, outcome: result.outcome },
    failure: result.failure?.kind,
    started: isoTime(result.startedAt ?? claimedAt),
    ended: isoTime(at),
    ...usageFields(result.usage),
  });
}

function usageFields(usage: Usage | undefined): Record<string, number | undefined> {
  return {
    input_tokens: usage?.inputTokens,
    cached_input_tokens: usage?.cachedInputTokens,
    output_tokens: usage?.outputTokens,
    cost_usd: usage?.costUsd,
  };
}

function askedSection({ attempt }: SettledTurn): Section {
  const { prompt = '' } = fieldsOf(attempt.request);
  return {
    title: 'Asked',
    blocks: [
      ...textBlocks(typeof prompt === 'string' ? prompt : '', MOST_ASKED),
      paragraph(words`All of it: ${code(`.squad/turns/${attempt.id}/prompt`)}`),
    ],
  };
}

function answerSection({ name, run, settlement }: SettledTurn): Section {
  const { text, structured, failure, denials } = settlement.result;
  const answer = structured === undefined ? text : JSON.stringify(structured, null, 2);
  const denied = denials.map(({ tool, message = '' }) => words`${tool}: ${message}`);
  return {
    title: 'Answered',
    blocks: [
      ...(failure === undefined ? [] : [paragraph(words`It failed (${ownWords(failure.kind)}): ${failure.message}`)]),
      ...textBlocks(answer, MOST_ANSWERED),
      ...(denied.length === 0 ? [] : [paragraph(ownWords('Tool calls that were denied:')), list(denied)]),
      paragraph(words`What it did: ${code(`squad show ${name} --run ${run}`)}`),
    ],
  };
}

/** Only the beginning is made safe to read: an answer may have megabytes. */
function textBlocks(text: string, most: number): Block[] {
  if (text.trim() === '') return [paragraph(ownWords('Nothing.'))];
  const left = text.length - most;
  if (left <= 0) return [quote(text, most * 8)];
  return [quote(text.slice(0, most), most * 8), paragraph(words`Cut: ${left} more characters.`)];
}
