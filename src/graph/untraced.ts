import { BaseCallbackHandler } from '@langchain/core/callbacks/base';
import { CallbackManager, CallbackManagerForChainRun } from '@langchain/core/callbacks/manager';
import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons';

/** Any id: LangChain makes a tracing client for whatever has no parent. */
const PARENT = '00000000-0000-7000-8000-000000000000';

/** Where LangChain keeps the configuration of a node in a trace. */
const CONFIGURATION = Symbol.for('lc:child_config');

/**
 * Stands for the trace of a node, which is also what `interrupt` finds its configuration by. It keeps that without callbacks:
 * those would be merged with the same ones, into a manager that takes everything in.
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

/** Has the name that LangChain looks for before it attaches a tracer of its own, and traces nothing. */
class NoTracer extends BaseCallbackHandler {
  readonly name = 'langchain_tracer';

  updateFromRunTree(): void {}

  getRunTreeWithTracingConfig(): NoTrace {
    return new NoTrace();
  }
}

/** What the environment switches on (`LANGSMITH_TRACING`, `LANGCHAIN_VERBOSE`, a hook) is added to it in vain. */
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

/** For every call of a graph: no switch of LangChain's has an effect on it, and no node's state leaves it. */
export const NO_CALLBACKS: CallbackManager = new NoCallbacks();

/** Without what a host's own graph or trace hands down to whatever it calls: its callbacks, tags and configuration. */
export function outsideOfHost<T>(work: () => T): T {
  return AsyncLocalStorageProviderSingleton.getInstance().run(undefined, work);
}

/** Where LangChain keeps the configuration of what runs. */
const CHILD_CONFIG = Symbol.for('lc:child_config');

/** With the node's own configuration in its place, which is there only while something traces: `interrupt` reads it there. */
export function insideNode<T>(config: object, work: () => T): T {
  return AsyncLocalStorageProviderSingleton.getInstance().run({ extra: { [CHILD_CONFIG]: config } }, work);
}
