import { isJsonObject, parseJson } from '../../text/json.ts';
import { uuidOf } from './langsmith.ts';
import { sendJson } from './sender.ts';
import { placeOf, type TraceTarget } from './target.ts';

const BATCH = '/runs/batch';
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * The page of a trace in LangSmith. undefined: where its pages are is not known, or the endpoint does not say which project the trace is
 * in.
 */
export async function linkOf(target: TraceTarget, root: string, late: AbortSignal): Promise<string | undefined> {
  if (target.to !== 'langsmith') return undefined;
  const api = target.url.slice(0, -BATCH.length);
  const pages = pagesOf(api);
  if (pages === undefined) return undefined;
  try {
    const query = new URLSearchParams({ name: placeOf(target).project ?? '', limit: '1' });
    const answer = parseJson(await sendJson({ ...target, url: `${api}/sessions?${query}` }, undefined, late));
    const project: unknown = Array.isArray(answer) ? answer[0] : undefined;
    if (!isJsonObject(project)) return undefined;
    const { id, tenant_id: tenant } = project;
    // It goes to a person's screen, and an endpoint may answer anything.
    if (typeof id !== 'string' || typeof tenant !== 'string' || !UUID.test(id) || !UUID.test(tenant)) return undefined;
    return `${pages}/o/${tenant}/projects/p/${id}/r/${uuidOf(root)}?poll=true`;
  } catch {
    // The project and the id of the trace name it too.
    return undefined;
  }
}

/** Where the pages of LangSmith are whose API is there: its own, of any region, or one that serves both below one address. */
function pagesOf(api: string): string | undefined {
  const { protocol, host, pathname } = new URL(api);
  const own = /^((?:[\w-]+\.)?)api\.smith\.langchain\.com$/.exec(host);
  if (own !== null) return `${protocol}//${own[1]}smith.langchain.com`;
  const below = /^(.*)\/api(?:\/v1)?$/.exec(pathname);
  return below === null ? undefined : `${protocol}//${host}${below[1]}`;
}
