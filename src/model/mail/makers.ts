import { MAIL_KINDS, type MailKind } from './kind.ts';
import type { Maker } from './kind-entry.ts';

/** A kind of message that a command or tool makes. */
export interface Made {
  readonly kind: MailKind;
  readonly maker: Maker;
  /** The field of its body that plain words are for. */
  readonly words: string | undefined;
}

/** The messages that commands or tools make, as the table of kinds has them. */
export function makersOf(face: 'command' | 'tool'): Made[] {
  return MAIL_KINDS.flatMap((kind) => [
    ...madeBy(kind, kind[face]),
    ...madeBy(kind, kind.words?.[face], kind.words?.field),
  ]);
}

/** The commands of `squad mail` that send messages. Several kinds may share one. */
export function mailCommands() {
  return [...Map.groupBy(makersOf('command'), ({ maker }) => maker.name)].map(([name, makes]) => ({
    name,
    does: makes.flatMap(({ maker }) => maker.does ?? [])[0] ?? `Send a message of the kind ${name}.`,
    makes,
    /** Whether it takes plain words. */
    inWords: makes.some(({ words }) => words !== undefined),
  }));
}

function madeBy(kind: MailKind, maker: Maker | undefined, words?: string): Made[] {
  return maker === undefined ? [] : [{ kind, maker, words }];
}

interface MadeField {
  readonly name: string;
  /** Its description. */
  readonly says: string;
  /** The label of its kind. */
  readonly of: string;
}

/** One field for each name, with one description: the one that all kinds share, or those of each kind with its label. */
export function jointFields<F extends MadeField>(fields: readonly F[], kinds: number, separator: string): F[] {
  return [...Map.groupBy(fields, ({ name }) => name).values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    if (same.length === kinds && same.every(({ says }) => says === first.says)) return [first];
    const each = same.map(({ of, says }) => `${of}: ${lowerFirst(says)}`);
    return [{ ...first, says: each.join(separator) }];
  });
}

export function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
