import type { Board } from '../model/plan/board.ts';
import { criterionLabel, type Verdict } from '../model/plan/gate.ts';
import { evidenceKey, type JudgeEvidence, type LookUps } from '../model/plan/judge-evidence.ts';
import { plainLine } from '../text/plain-text.ts';
import { FEEDBACK } from './feedback-texts.ts';

type Criteria = Board['facts']['objective']['criteria'];

/** Verdicts of one judge, on the commit that its task has read. */
export interface Judged {
  readonly task: string;
  readonly by: string;
  readonly commit: string;
  readonly verdicts: readonly Verdict[];
}

/** Evidence of one judge that squad has to look up. */
export interface NamedEvidence extends Omit<Judged, 'verdicts'> {
  readonly evidence: readonly JudgeEvidence[];
}

/** It has no command, not even a proposed one. */
export function isForJudge({ command, proposed }: Criteria[number]): boolean {
  return command === undefined && proposed === undefined;
}

/** Each takes a call of git, or reads the ledger. What is not looked up counts as its judge says. */
const MOST_LOOKED_UP = 50;

/** Only criteria without a command are judged, and only what is met needs evidence. */
export function evidenceIn({ verdicts, ...judged }: Judged, criteria: Criteria): NamedEvidence {
  const evidence = verdicts.flatMap(({ criterion, met, evidence: one }) => {
    const about = criteria[criterion];
    return met && one !== null && about !== undefined && isForJudge(about) && weakness(one) === undefined ? [one] : [];
  });
  const once = new Map(evidence.map((one) => [evidenceKey(judged.by, one), one]));
  return { ...judged, evidence: [...once.values()].slice(0, MOST_LOOKED_UP) };
}

/** Why evidence shows nothing, whatever squad finds; undefined: it may show something. */
function weakness(evidence: JudgeEvidence): string | undefined {
  if ('command' in evidence)
    return evidence.command.trim() === '' || evidence.output.trim() === '' ? FEEDBACK.halfCommand : undefined;
  const letters = evidence.quote.match(/[\p{L}\p{N}]/gu) ?? [];
  return letters.length < SHORTEST_QUOTE ? FEEDBACK.shortQuote : undefined;
}

/** Letters and digits. Fewer stand in nearly every file. */
const SHORTEST_QUOTE = 3;

/** Why a verdict that a criterion is met does not count; undefined: it does. */
export function unshownBy(by: string | null, { evidence }: Verdict, looked: LookUps): string | undefined {
  if (evidence === null) return FEEDBACK.noEvidence;
  const weak = weakness(evidence);
  if (weak !== undefined) return weak;
  const as = lookedUp(by, evidence, looked)?.as;
  if ('command' in evidence) return as === 'not-run' ? FEEDBACK.notRun(shown(evidence.command)) : undefined;
  if (as === 'no-file') return FEEDBACK.noQuotedFile(shown(evidence.file));
  return as === 'no-quote' ? FEEDBACK.noQuote(shown(evidence.file), shown(evidence.quote)) : undefined;
}

/** Problems that a judge corrects once. After that, its other verdicts count. */
export function evidenceProblems({ by, verdicts }: Judged, looked: LookUps, criteria: Criteria): string[] {
  return verdicts.flatMap((verdict) => {
    const about = criteria[verdict.criterion];
    if (!verdict.met || about === undefined || !isForJudge(about)) return [];
    const why = unshownBy(by, verdict, looked);
    return why === undefined ? [] : [`${criterionLabel(verdict.criterion)}: ${why}`];
  });
}

/** Evidence with what squad found of it, for people. `head`: the judged commit. */
export function evidenceText(by: string | null, evidence: JudgeEvidence, looked: LookUps, head: string): string {
  const found = lookedUp(by, evidence, looked);
  if ('command' in evidence) {
    const note = found?.as === 'ran' ? 'its judge ran it; output not checked' : 'not checked whether its judge ran it';
    return `\`${shown(evidence.command)}\` (${note})`;
  }
  const at = head.slice(0, 12);
  const quote = `“${shown(evidence.quote)}”`;
  return found?.as === 'quoted'
    ? `${evidence.file}:${found.line} at ${at} has ${quote}`
    : `${evidence.file}:${evidence.line} at ${at}: ${quote} (not looked up)`;
}

function lookedUp(by: string | null, evidence: JudgeEvidence, looked: LookUps) {
  const key = evidenceKey(by, evidence);
  return Object.hasOwn(looked, key) ? looked[key] : undefined;
}

function shown(text: string): string {
  return plainLine(text, 120);
}
