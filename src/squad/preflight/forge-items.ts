import type { IntakeSettings } from '../../model/forge/settings.ts';
import { placeIn } from '../../text/yaml-file.ts';
import type { SettingsFile } from './read-settings.ts';
import type { TrustItem } from './trust-item.ts';

const WHO = { owner: 'owners', member: 'members who may push' } as const;

/** All that issues start by themselves, and what is written to them. A repository could change it at any time. */
export function forgeItems(
  { remote, intake }: { readonly remote: string; readonly intake?: IntakeSettings | undefined },
  { file, text }: SettingsFile,
): TrustItem[] {
  if (intake === undefined) return [];
  const { label, by, max, playbooks } = intake;
  const where = `${file}:${placeIn(text, ['forge', 'intake']).line}`;
  const who = by.map((one) => WHO[one]).join(' and ');
  const starts = `issues of ${remote} start runs, ${max} at once at most, when one of the ${who} sets the label ${label}`;
  const also = Object.entries(playbooks).map(
    ([name, playbook]) => `issues with the label ${name} use the playbook ${playbook}`,
  );
  const writes = `squad writes comments and labels to these issues with your login, and takes answers of the ${who} there`;
  return [starts, ...also, writes].map((run) => ({ from: 'forge', run, where }));
}
