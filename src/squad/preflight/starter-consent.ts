import type { Composition, Host } from '../../engine/compose.ts';
import { describeRuntimes } from '../../engine/runtime-choice.ts';
import { isSquadError } from '../../model/errors.ts';
import { letThroughBy } from '../../model/let-through.ts';
import { agree } from './consent.ts';
import { copiesOf } from './copies.ts';
import { SETTINGS_FILE } from './read-input.ts';
import { readSettings } from './read-settings.ts';
import { limitsOfRun } from './run-limits.ts';
import type { TrustItem } from './trust-item.ts';
import type { TrustedPlace } from './trust-store.ts';
import { itemsToTrust } from './trust.ts';

interface Ports extends Pick<
  Composition,
  'clock' | 'git' | 'redactor' | 'runtimes' | 'runtime' | 'describe' | 'playbooks'
> {
  readonly host: Host;
}

/** The answers that a person has just given. */
interface Typed {
  /** The command that tests the repository; empty: none. */
  readonly verify: string;
}

/**
 * Stores consent to new settings that a person wrote by answering questions, so that the first run does not ask for the same again.
 * `confirm`: asks about all of it where anything in it was no answer of theirs. False: the first run will ask.
 */
export async function agreeToStarter(
  ports: Ports,
  repository: TrustedPlace,
  { verify }: Typed,
  confirm: (items: readonly TrustItem[]) => Promise<boolean>,
): Promise<boolean> {
  const { host } = ports;
  const { root } = repository;
  const isTyped = ({ from, run }: TrustItem): boolean => from === 'limits' || (from === 'verify' && run === verify);
  try {
    const read = await readSettings(root, ports, host);
    const none = { file: SETTINGS_FILE, text: '', criteria: [], frontMatter: {} };
    const described = describeRuntimes(ports, read.settings.runtimes);
    const copies = await copiesOf(ports, root, read, ports.redactor(letThroughBy(read.settings)));
    const items = [
      ...itemsToTrust(read.repository.settings, none, read.repository, described),
      ...copies.items,
      ...limitsOfRun({}, none, read).items,
    ];
    const asks = { host, clock: ports.clock, confirm: async () => items.every(isTyped) || confirm(items) };
    await agree(items, asks, { repository, yes: false });
    return true;
  } catch (error) {
    // A run says what is wrong, and what to do about it.
    if (isSquadError(error)) return false;
    throw error;
  }
}
