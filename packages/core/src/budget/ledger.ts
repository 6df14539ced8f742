/** Upper bounds of an account; absent means none of its own. */
export type AccountLimits = { tokens?: number; costUsd?: number; spawns?: number };

/** What a model call may need at worst. Prices are USD per token. */
export type Need = {
  inputTokens: number;
  outputTokens: number;
  /** What most calls get by with: where a budget is shared, a call takes more only as far as there is plenty. */
  usualOutputTokens?: number;
  /** The least output that makes the call worth while. */
  leastOutputTokens: number;
  inputPrice: number;
  outputPrice: number;
  /** Tokens that must stay free beside this call, for the last report. */
  spareTokens?: number;
};

/** Money and tokens set aside for one call. */
export type Reservation = {
  kind: "reserved";
  outputTokens: number;
  settle(tokens: number, costUsd: number): void;
};

/** Why nothing could be set aside, even after everybody else gave back what they did not use. */
export type Refusal = { kind: "refused"; resource: "tokens" | "cost" | "cancelled"; account: Ledger };

/** The budget of a run and, through `parent`, of all its ancestors. */
export class Ledger {
  readonly name: string;
  readonly parent: Ledger | null;
  readonly limits: AccountLimits;
  /** Some account on the way up has a token or cost limit. */
  readonly limited: boolean;
  /** Some account on the way up has a cost limit. */
  readonly costLimited: boolean;
  tokensSpent = 0;
  costSpent = 0;
  tokensReserved = 0;
  costReserved = 0;
  spawns = 0;
  readonly waiters = new Set<() => void>();

  constructor(name: string, parent: Ledger | null, limits: AccountLimits) {
    this.name = name;
    this.parent = parent;
    this.limits = limits;
    this.costLimited = limits.costUsd !== undefined || (parent?.costLimited ?? false);
    this.limited = limits.tokens !== undefined || this.costLimited || (parent?.limited ?? false);
  }

  /** Counts one more run below this account and every ancestor, or names the account that is full. */
  takeSpawn(): Ledger | null {
    for (let account: Ledger | null = this; account; account = account.parent) {
      if (account.limits.spawns !== undefined && account.spawns >= account.limits.spawns) return account;
    }
    for (let account: Ledger | null = this; account; account = account.parent) account.spawns++;
    return null;
  }

  /**
   * Sets the worst case of a call aside here and in every ancestor before it is made. Of a large output only a share of
   * what is free, so that a small budget is not one call's alone. Waits while others hold reservations that may come
   * back; then takes less output; refuses when even the least does not fit.
   */
  async reserve(need: Need, signal: AbortSignal): Promise<Reservation | Refusal> {
    if (!this.limited) return this.#take(need, need.outputTokens);
    while (!signal.aborted) {
      const fit = this.#fit(need);
      const free = fit.output - (need.spareTokens ?? 0);
      const wanted = wantedOutput(need, free, fit.account.tokensReserved > 0);
      if (free >= wanted) return this.#take(need, wanted);
      if (fit.account.tokensReserved > 0 || fit.account.costReserved > 0) {
        await changeOf(fit.account, signal);
        continue;
      }
      if (free >= need.leastOutputTokens) return this.#take(need, Math.floor(free));
      return { kind: "refused", resource: fit.resource, account: fit.account };
    }
    return { kind: "refused", resource: "cancelled", account: this };
  }

  /** Books what a call without a reservation has used. */
  charge(tokens: number, costUsd: number): void {
    for (let account: Ledger | null = this; account; account = account.parent) {
      account.tokensSpent += tokens;
      account.costSpent += costUsd;
    }
  }

  /** The tightest account on the way up and how many output tokens it leaves room for. */
  #fit(need: Need): { output: number; account: Ledger; resource: "tokens" | "cost" } {
    let tightest: { output: number; account: Ledger; resource: "tokens" | "cost" } = {
      output: Number.POSITIVE_INFINITY,
      account: this,
      resource: "tokens",
    };
    for (let account: Ledger | null = this; account; account = account.parent) {
      const { tokens, costUsd } = account.limits;
      if (tokens !== undefined) {
        const output = tokens - account.tokensSpent - account.tokensReserved - need.inputTokens;
        if (output < tightest.output) tightest = { output, account, resource: "tokens" };
      }
      if (costUsd !== undefined) {
        const left = costUsd - account.costSpent - account.costReserved - need.inputTokens * need.inputPrice;
        const output = affordable(left, need.outputPrice);
        if (output < tightest.output) tightest = { output, account, resource: "cost" };
      }
    }
    return tightest;
  }

  #take(need: Need, outputTokens: number): Reservation {
    const tokens = need.inputTokens + outputTokens;
    const cost = need.inputTokens * need.inputPrice + outputTokens * need.outputPrice;
    for (let account: Ledger | null = this; account; account = account.parent) {
      account.tokensReserved += tokens;
      account.costReserved += cost;
    }
    let open = true;
    return {
      kind: "reserved",
      outputTokens,
      settle: (usedTokens, usedCost) => {
        if (!open) return;
        open = false;
        for (let account: Ledger | null = this; account; account = account.parent) {
          account.tokensReserved -= tokens;
          account.costReserved = account.tokensReserved === 0 ? 0 : account.costReserved - cost;
          account.tokensSpent += usedTokens;
          account.costSpent += usedCost;
          if (account.waiters.size > 0) for (const wake of [...account.waiters]) wake();
        }
      },
    };
  }
}

/** The part of what is free that one call may set aside beyond the usual, so that others can begin beside it. */
const SHARE_ALONE = 1 / 4;
const SHARE_BESIDE_OTHERS = 1 / 8;

/** How much output a call waits for: all it can use while there is plenty, else the usual. */
function wantedOutput(need: Need, free: number, isBesideOthers: boolean): number {
  const { outputTokens, usualOutputTokens = outputTokens } = need;
  const share = Math.floor(free * (isBesideOthers ? SHARE_BESIDE_OTHERS : SHARE_ALONE));
  return Math.min(outputTokens, Math.max(usualOutputTokens, share));
}

function affordable(left: number, price: number): number {
  if (left < 0) return -1;
  return price === 0 ? Number.POSITIVE_INFINITY : Math.floor(left / price + 1e-9);
}

function changeOf(account: Ledger, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      account.waiters.delete(wake);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    account.waiters.add(wake);
    signal.addEventListener("abort", wake, { once: true });
  });
}
