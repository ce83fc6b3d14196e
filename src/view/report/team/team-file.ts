import { TEAM_ROLES } from '../../../model/sprint/roles.ts';
import { fileName } from '../../../text/file-name.ts';
import { plainJsonText } from '../../../text/plain-text.ts';

/** A file below the folder of a team, whole. */
export interface TeamFile {
  readonly path: string;
  readonly text: string | Uint8Array;
}

export const SHARED = 'shared_workspace';
export const RUNTIME = '.teams_runtime';
export const LOGS = 'logs/agents';
/** Messages and delegations under way. Their files go when they have ended. */
export const INBOX = `${RUNTIME}/internal_relay/inbox`;

/** The engine itself, which decides who works on what. */
export const ENGINE_ROLE = 'orchestrator';
/** Roles without a folder at the top. */
const INTERNAL: Readonly<Record<string, string>> = {
  'version-controller': 'internal/version_controller',
  sourcer: 'internal/sourcer',
  parser: 'internal/parser',
};

/** The roles that have a folder at the top. */
export const PUBLIC_ROLES: readonly string[] = [ENGINE_ROLE, ...TEAM_ROLES].filter(
  (role) => INTERNAL[role] === undefined,
);
export const INTERNAL_ROLES: readonly string[] = Object.keys(INTERNAL);

/** The folder of a role, and the name that its files have elsewhere. */
export function roleFolder(role: string): string {
  return INTERNAL[role] ?? fileName(role);
}

export function roleFileName(role: string): string {
  return fileName(role.replaceAll('-', '_'));
}

export function jsonFile(path: string, value: unknown): TeamFile {
  return { path: `${path}.json`, text: `${plainJsonText(value, 2)}\n` };
}
