import { z } from 'zod';
import { parseJson } from '../text/json.ts';
import type { LedgerEvent } from '../model/ledger-event.ts';
import { closes, mailQuestionId } from '../model/mail/effects.ts';
import { MAIN } from '../model/mail/vocabulary.ts';
import { lockOutAskedAbout } from '../rules/logins.ts';
import type { Board } from '../model/plan/board.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';

/** A question without an answer in the plan. */
export interface OpenQuestion {
  readonly id: string;
  readonly text: string;
  readonly options: readonly string[];
  /** Any other text is an answer too. */
  readonly freeText: boolean;
  /** An answer that is stored, and that no engine has applied yet. */
  readonly recorded: string | null;
}

/**
 * The open questions. The first stored answer counts, as it does for the engine. The board has the answers already applied, and
 * `foreseen` a person's other commands too: who is locked out follows from them.
 */
export function openQuestions(
  ledger: Ledger,
  board: Pick<Board, 'questions'>,
  foreseen: Pick<Board, 'questions'>,
  events: readonly LedgerEvent[],
  applied: number,
): OpenQuestion[] {
  const recorded = new Map<string, string>();
  for (const event of events) {
    if (event.seq <= applied) continue;
    const answer = event.type === 'mail-sent' ? answerByMail(ledger, event) : answerByCommand(event);
    if (answer !== undefined && !recorded.has(answer.question)) recorded.set(answer.question, answer.answer);
  }
  return [...board.questions.values()]
    .flatMap((question) =>
      lockOutAskedAbout(question.id) === undefined ? question : (foreseen.questions.get(question.id) ?? []),
    )
    .filter((question) => question.answer === null)
    .map(({ id, text, options, by }) => {
      const freeText = by === 'playbook' || options.length === 0;
      return { id, text, options, freeText, recorded: recorded.get(id) ?? null };
    });
}

const answerSchema = z.object({ question: z.string(), answer: z.string() });
type Answer = z.infer<typeof answerSchema>;
const answerCommandSchema = z.object({ verb: z.literal('answer'), data: answerSchema });

function answerByCommand({ type, data }: LedgerEvent): Answer | undefined {
  return type === 'operator-command' ? answerCommandSchema.safeParse(data).data?.data : undefined;
}

/** MAIN's answer to an agent's question, sent by a person: `squad mail reply`. */
function answerByMail({ mail }: Ledger, { data }: LedgerEvent): Answer | undefined {
  const sent = mailSentSchema.safeParse(data).data;
  const message = sent === undefined ? undefined : mail.message(sent.id);
  if (sent === undefined || message === undefined || !closes('clarify', message)) return undefined;
  const body = mail.bodyOf(message);
  // Base64, or text that is not JSON, is shown unchanged.
  return {
    question: mailQuestionId(sent.corr),
    answer: answerBodySchema.safeParse(parseJson(body)).data?.answer ?? body,
  };
}

/** A message that a turn still holds is not an answer until the turn ends. */
const mailSentSchema = z.object({ id: z.string(), from: z.literal(MAIN), corr: z.string(), held: z.null() });
const answerBodySchema = z.object({ answer: z.string() });
