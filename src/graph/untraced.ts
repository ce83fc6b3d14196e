import { BaseCallbackHandler } from '@langchain/core/callbacks/base';
import { CallbackManager, CallbackManagerForChainRun } from '@langchain/core/callbacks/manager';
import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons';

/** Any id works. Without a parent, LangChain would create a tracing client. */
const PARENT = '00000000-0000-7000-8000-000000000000';

/** The key under which LangChain keeps a node's configuration in a trace. */
const CONFIGURATION = Symbol.for('lc:child_config');

/**
 * Replaces the trace of a node, from which `interrupt` reads its configuration. It drops the callbacks from that configuration:
 * LangChain would merge them with the same ones into a manager that accepts new handlers.
 */
class NoTrace {
  readonly tracingEnabled = false;
  #extra: Readonly<Record<symbol, unknown>> = {};

  get extra(): Readonly<Record<symbol, unknown>> {
    return this.#extra;
  }

  set extra(extra: Readonly<Record<symbol, unknown>>) {
    this.#extra = { ...extra, [CONFIGURATION]: { ...(extra[CONFIGURATION] as object), callbacks: undefined } };
  }
}

/** LangChain looks for this name before it attaches its own tracer. This one traces nothing. */
class NoTracer extends BaseCallbackHandler {
  readonly name = 'langchain_tracer';

  updateFromRunTree(): void {}

  getRunTreeWithTracingConfig(): NoTrace {
    return new NoTrace();
  }
}

/** Ignores handlers that the environment switches on (`LANGSMITH_TRACING`, `LANGCHAIN_VERBOSE`, a hook). */
class NoCallbacks extends CallbackManager {
  constructor() {
    super(PARENT);
    super.addHandler(new NoTracer(), true);
  }

  override copy(): this {
    return this;
  }

  override addHandler(): void {}

  override removeHandler(): void {}

  override addTags(): void {}

  override addMetadata(): void {}

  override async handleChainStart(): Promise<CallbackManagerForChainRun> {
    return new NoRun(this);
  }
}

class NoRun extends CallbackManagerForChainRun {
  readonly #all: NoCallbacks;

  constructor(all: NoCallbacks) {
    super(PARENT, [], [], [], [], {}, {}, PARENT);
    this.#all = all;
  }

  override getChild(): CallbackManager {
    return this.#all;
  }
}

/** Configuration for every call of a graph. LangChain's switches have no effect, and no node's state leaves the graph. */
export const NO_CALLBACKS: CallbackManager = new NoCallbacks();

/** Runs a call without the callbacks, tags and configuration that a host's own graph or trace passes to its calls. */
export function outsideOfHost<T>(work: () => T): T {
  return AsyncLocalStorageProviderSingleton.getInstance().run(undefined, work);
}

/** Runs a node with its own configuration where `interrupt` reads it. LangChain puts it there only while it traces. */
export function insideNode<T>(config: object, work: () => T): T {
  return AsyncLocalStorageProviderSingleton.getInstance().run({ extra: { [CONFIGURATION]: config } }, work);
}
