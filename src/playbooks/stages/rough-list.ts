import type { Path } from '../../text/explain-issue.ts';
import { asObject, isJsonObject } from '../../text/json.ts';

interface RoughReview {
  readonly at: Path;
  readonly id: string | undefined;
  readonly by: readonly string[];
  /** The id after `of`. */
  readonly session: string | undefined;
  /** The stage of each category that has one. */
  readonly reopens: readonly { readonly category: string; readonly stage: string }[];
}

/** A stage as it is written, as far as it can be read: what is wrong with it elsewhere hides nothing here. */
export interface RoughStage {
  readonly at: Path;
  readonly id: string | undefined;
  readonly by: readonly string[];
  /** undefined: it needs the stage before it. */
  readonly needs: readonly string[] | undefined;
  readonly brief: string;
  readonly makes: Readonly<Record<string, unknown>>;
  /** The keys of each entry. */
  readonly requires: readonly (readonly string[])[];
  readonly reviews: readonly RoughReview[];
  /** Ids after `of`, `redo` and `fix`. */
  readonly each: string | undefined;
  readonly session: string | undefined;
  /** The roles after `of`. */
  readonly asks: readonly string[];
  readonly redo: string | undefined;
  readonly fix: string | undefined;
  /** Its keys. */
  readonly has: (key: string) => boolean;
}

export function roughStages(list: unknown, at: Path): RoughStage[] {
  const { stages } = asObject(list);
  return (Array.isArray(stages) ? stages : []).map((written: unknown, index) => {
    const { id, by, needs, brief, makes, requires, review, each, judges, session, asks } = asObject(written);
    const otherwise = asObject(asObject(judges)['else']);
    return {
      at: [...at, 'stages', index],
      id: text(id),
      by: texts(by),
      needs: needs === undefined ? undefined : texts(needs),
      brief: text(brief) ?? '',
      makes: makes === 'code' ? { code: true } : asObject(makes),
      requires: Array.isArray(requires) ? requires.slice(0, MOST_TEXTS).map((one) => Object.keys(asObject(one))) : [],
      reviews: roughReviews(review, [...at, 'stages', index, 'review']),
      each: text(asObject(each)['of']),
      session: text(asObject(session)['of']),
      asks: texts(asObject(asks)['of']),
      redo: text(otherwise['redo']),
      fix: text(otherwise['fix']),
      has: (key) => isJsonObject(written) && Object.hasOwn(written, key),
    };
  });
}

function roughReviews(written: unknown, at: Path): RoughReview[] {
  const many = Array.isArray(written);
  return (many ? written.slice(0, MOST_TEXTS) : [written]).flatMap((one: unknown, index): RoughReview[] => {
    if (!isJsonObject(one)) return [];
    const { id, by, session, reopens } = one;
    const place = many ? [...at, index] : at;
    const stages = Object.entries(asObject(reopens)).flatMap(([category, to]) => {
      const stage = text(asObject(to)['stage']);
      return stage === undefined ? [] : [{ category, stage }];
    });
    return [{ at: place, id: text(id), by: texts(by), session: text(asObject(session)['of']), reopens: stages }];
  });
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A bound on the checks here: the schema refuses a longer list. */
const MOST_TEXTS = 200;

/** Its texts, at their places in the list. */
function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.slice(0, MOST_TEXTS).map((one) => text(one) ?? '') : [];
}
