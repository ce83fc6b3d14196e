import type { Composition, Host } from '../../engine/compose.ts';
import { badInput, SquadError } from '../../model/errors.ts';
import { byteCount } from '../../text/byte-count.ts';
import { visibleCode, visibleText } from '../../text/plain-text.ts';
import { trustHash } from './trust-hash.ts';
import type { TrustItem } from './trust-item.ts';
import { isTrusted, rememberTrust, trustStoreOf, type TrustedPlace } from './trust-store.ts';

/** More than a person reads. */
const MOST_BYTES = 64 * 1024;

export interface TrustPorts extends Pick<Composition, 'clock'> {
  readonly host: Pick<Host, 'stateDirectory'>;
  /** Shows the commands and asks for consent; absent if no person can answer. */
  confirm?(items: readonly TrustItem[]): Promise<boolean>;
}

interface Asked {
  readonly repository: TrustedPlace;
  readonly yes: boolean;
  /** The next step where no person can answer. */
  readonly next?: string;
}

/** The hash of the items, null if there are none. Throws `not-trusted` without consent. `yes`: for this run only, not stored. */
export async function agree(items: readonly TrustItem[], ports: TrustPorts, about: Asked): Promise<string | null> {
  if (items.length === 0) return null;
  const { repository, yes, next } = about;
  const store = trustStoreOf(ports.host, repository);
  const hash = hashOf(items);
  if (yes || (await isTrusted(store, hash))) return hash;
  refuseTooLong(items);
  if (ports.confirm === undefined) throw notTrusted(items, next);
  if (!(await ports.confirm(items))) {
    throw unagreed(items, 'you did not consent to this', 'Take what you do not want out of the file that names it.');
  }
  await rememberTrust(store, { hash, at: ports.clock.now() });
  return hash;
}

/**
 * The hash of the items if there is consent to them, and null otherwise: it neither asks nor stores. Throws `not-trusted` for a
 * program of the repository, which no check may start without.
 */
export async function consentTo(
  items: readonly TrustItem[],
  ports: Pick<TrustPorts, 'host'>,
  { repository, yes }: Asked,
): Promise<string | null> {
  if (items.length === 0) return null;
  const hash = hashOf(items);
  if (yes || (await isTrusted(trustStoreOf(ports.host, repository), hash))) return hash;
  if (items.every(({ from }) => from !== 'runtime')) return null;
  refuseTooLong(items);
  throw notTrusted(items);
}

/** Whether consent to exactly these items is stored. */
export async function hasConsent(
  items: readonly TrustItem[],
  ports: Pick<TrustPorts, 'host'>,
  repository: TrustedPlace,
): Promise<boolean> {
  return isTrusted(trustStoreOf(ports.host, repository), hashOf(items));
}

/** This needs consent, and no person can answer. */
export function notTrusted(
  items: readonly TrustItem[],
  next = "Read it, then run it again with `--yes`, or from a program with `trust: 'yes'`.",
): SquadError {
  return unagreed(items, 'this needs your consent', next);
}

/** The items for people, whole: nothing in them is cut, and nothing is invisible. An item of several lines is indented from the second on. */
export function trustLines(items: readonly TrustItem[]): string[] {
  return items.flatMap(({ from, run, where, detail }) => {
    const after = detail === undefined ? '' : ` (${detail})`;
    const [first = '', ...more] = `${where}: ${from}: ${run}${after}`.split('\n').map(shownWhole);
    return [first, ...more.map((line) => `    ${line}`)];
  });
}

/** A row of blanks could push what follows out of sight. */
const BLANKS = / {21,}/g;
/** Blanks that are no space, and marks that change how the character before them looks. */
const LOOK_ALIKE = /\u2800|\p{Variation_Selector}|(?! )\p{Zs}/gu;
/** A word in which letters that look like Latin ones stand among Latin ones. */
const MIXED =
  /(?=[\p{L}\p{M}]*\p{Script=Latin})(?=[\p{L}\p{M}]*[\p{Script=Cyrillic}\p{Script=Greek}])[\p{L}\p{M}]{1,200}/gu;
const FOREIGN = /[\p{Script=Cyrillic}\p{Script=Greek}]/gu;

function shownWhole(line: string): string {
  return visibleText(line)
    .replaceAll('\t', String.raw`\t`)
    .replaceAll(LOOK_ALIKE, visibleCode)
    .replaceAll(MIXED, (word) => word.replaceAll(FOREIGN, visibleCode))
    .replaceAll(BLANKS, (blanks) => ` ⟨${blanks.length} spaces⟩ `);
}

/** Throws for a list that no person would read. A person agrees to it by `--yes`, which reads nothing. */
function refuseTooLong(items: readonly TrustItem[]): void {
  const sizes = items.map((item) => Buffer.byteLength(trustLines([item]).join('\n')));
  const all = sizes.reduce((sum, size) => sum + size, 0);
  if (all <= MOST_BYTES) return;
  const longest = items[sizes.indexOf(Math.max(...sizes))];
  const where = longest === undefined ? '' : `; the longest is ${longest.where}: ${longest.from}`;
  throw badInput(
    `what needs your consent takes ${byteCount(all)} to show, and squad shows at most ${byteCount(MOST_BYTES)}${where}`,
    'Shorten it: put long commands into a script, and name that.',
  );
}

function hashOf(items: readonly TrustItem[]): string {
  return trustHash(items.map(({ from, run }) => `${from}: ${run}`));
}

function unagreed(items: readonly TrustItem[], message: string, next: string): SquadError {
  return new SquadError({ code: 'not-trusted', message: [`${message}:`, ...trustLines(items)].join('\n'), next });
}
