import type { Playbook, Role } from '../../model/plan.ts';
import type { AgentSettings } from '../../model/settings.ts';
import type { Locale } from '../../model/locale.ts';
import { roleTexts, type RoleTexts } from './role-texts.ts';

export type Staffing = Pick<Playbook<never>, 'roles' | 'otherRoles'>;

const READS: Role = { delivers: 'none' };

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
  agent: Pick<AgentSettings, 'name' | 'role' | 'access' | 'commits'>,
  role: Pick<Role, 'instructions' | 'translations'>,
  file?: { readonly path: string; readonly text: string; readonly adds?: boolean },
  locale: Locale = 'en',
): string {
  const { name, access, commits = true } = agent;
  const whole = file !== undefined && file.adds !== true && isWholeRole(file.text);
  const texts = roleTexts(whole || isKnownIn(locale, role) ? locale : 'en');
  const workspace = access === 'read-only' ? texts.looking : commits ? texts.changing : texts.editing;
  return [
    texts.youAre(name),
    whole ? `${texts.described(agent.role, file.path)}\n\n${file.text.trim()}` : roleText(agent.role, role, texts),
    workspace,
    texts.rules,
    ...(file === undefined || whole ? [] : [`${texts.further(file.path)}\n\n${file.text.trim()}`]),
  ].join('\n\n');
}

/** A role that its playbook describes in English only is not put into a text in another language. */
function isKnownIn(locale: Locale, { instructions, translations }: Pick<Role, 'instructions' | 'translations'>) {
  return locale === 'en' || instructions === undefined || translations?.[locale] !== undefined;
}

function roleText(
  name: string,
  { instructions, translations }: Pick<Role, 'instructions' | 'translations'>,
  texts: RoleTexts,
): string {
  const own = texts.locale === 'en' ? instructions : (translations?.[texts.locale] ?? undefined);
  return own ?? (Object.hasOwn(texts.known, name) ? texts.known[name] : undefined) ?? texts.other(name);
}
