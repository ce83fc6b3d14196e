import type { Playbook, Role } from '../../model/plan.ts';
import type { AgentSettings } from '../../model/settings.ts';
import type { Locale } from '../../model/locale.ts';
import { isRolePrompt, renderPrompt, type ChangedPrompts, type RolePrompt } from '../../prompts/render.ts';

export type Staffing = Pick<Playbook<never>, 'roles' | 'otherRoles'>;

const READS: Role = { delivers: 'none' };

type OwnText = Pick<Role, 'instructions' | 'prompt' | 'describedBy'>;

export function roleIn({ roles, otherRoles = READS }: Staffing, role: string): Role {
  return (Object.hasOwn(roles, role) ? roles[role] : undefined) ?? otherRoles;
}

/** The engine asks a reviewer first, whatever the playbook. */
export function judgesOf({ roles }: Staffing): string[] {
  return [...new Set(['reviewer', ...Object.keys(roles).filter((role) => roles[role]?.judges === true)])];
}

/** A text that describes a whole role has these three headings in this order. */
const ROLE_HEADINGS = /^#+ +Identity *\n[^]*^#+ +Boundaries *\n[^]*^#+ +Execution *\n/m;

/** Whether the text describes a role on its own, so that squad adds nothing of its own about it. */
export function isWholeRole(text: string): boolean {
  return ROLE_HEADINGS.test(text.replaceAll('\r\n', '\n'));
}

/**
 * An agent's whole session instructions. A file that describes a whole role replaces squad's text about it, unless it only `adds`; any
 * other file is appended. Runtimes read AGENTS.md or CLAUDE.md themselves.
 */
export function renderInstructions(
  agent: Pick<AgentSettings, 'name' | 'role'>,
  role: OwnText,
  file?: { readonly path: string; readonly text: string; readonly adds?: boolean },
  { locale = 'en', prompts = {} }: { readonly locale?: Locale; readonly prompts?: ChangedPrompts } = {},
): string {
  const whole = file !== undefined && file.adds !== true && isWholeRole(file.text);
  const described = { roleName: agent.role, further: file?.text.trim() ?? '', furtherPath: file?.path ?? '' };
  return renderPrompt(
    'squad/instructions',
    {
      name: agent.name,
      role: whole ? renderPrompt('other/described', described, prompts) : roleText(agent.role, role, prompts),
      further: whole ? '' : described.further,
      furtherPath: whole ? '' : described.furtherPath,
      language: LANGUAGES[locale],
    },
    prompts,
  );
}

/** Prompts are English; this is the language of what people read. */
const LANGUAGES: Readonly<Record<Locale, string>> = { en: '', zh: 'Chinese' };

/** Roles that several playbooks have, and the engine too. */
const KNOWN: Readonly<Record<string, RolePrompt>> = { builder: 'builder/role', reviewer: 'reviewer/role' };

function roleText(name: string, role: OwnText, prompts: ChangedPrompts): string {
  const known = Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined;
  const text = ownText(known === undefined ? role : { prompt: known, ...role }, prompts);
  return text === '' ? renderPrompt('other/role', { roleName: name }, prompts) : text;
}

/** The text of a playbook about its role. Empty: it has none. */
export function ownText({ instructions, describedBy, prompt = '' }: OwnText, prompts: ChangedPrompts = {}): string {
  if (instructions !== undefined && describedBy !== undefined) {
    const { name: roleName, file: furtherPath } = describedBy;
    return renderPrompt('session/described', { roleName, furtherPath, further: instructions }, prompts);
  }
  return instructions ?? (isRolePrompt(prompt) ? renderPrompt(prompt, {}, prompts) : '');
}
