import { Ledger } from "@retinue/core/budget/ledger";
import { Limiter } from "@retinue/core/budget/limiter";
import { Slots } from "@retinue/core/budget/slots";
import { expect } from "vitest";

/** Every account, all slots and every provider's limit that were used while they were watched. */
export type HeldPlaces = {
  /** Fails if anything is still set aside, or a slot or a provider's place still taken. */
  expectNone(): void;
  [Symbol.dispose](): void;
};

/** Notes what model and tool calls take, in every runtime of this process, until it is disposed of. */
export function watchHeldPlaces(): HeldPlaces {
  const accounts = new Set<Ledger>();
  const slots = new Set<Slots>();
  const limiters = new Set<Limiter>();
  const { reserve } = Ledger.prototype;
  const { tryAcquire: trySlot, acquire: waitForSlot } = Slots.prototype;
  const { tryAcquire: tryPlace, acquire: waitForPlace } = Limiter.prototype;
  Ledger.prototype.reserve = function (need, signal) {
    for (let at: Ledger | null = this; at; at = at.parent) accounts.add(at);
    return reserve.call(this, need, signal);
  };
  Slots.prototype.tryAcquire = function () {
    slots.add(this);
    return trySlot.call(this);
  };
  Slots.prototype.acquire = function (depth, returning, signal) {
    slots.add(this);
    return waitForSlot.call(this, depth, returning, signal);
  };
  Limiter.prototype.tryAcquire = function () {
    limiters.add(this);
    return tryPlace.call(this);
  };
  Limiter.prototype.acquire = function (signal) {
    limiters.add(this);
    return waitForPlace.call(this, signal);
  };
  return {
    expectNone() {
      const reserved = [...accounts].filter((each) => each.tokensReserved !== 0 || each.costReserved !== 0);
      expect(reserved.map(({ name }) => name)).toEqual([]);
      expect([...slots].map(({ active }) => active).filter((active) => active !== 0)).toEqual([]);
      expect([...limiters].map(({ active }) => active).filter((active) => active !== 0)).toEqual([]);
    },
    [Symbol.dispose]() {
      Ledger.prototype.reserve = reserve;
      Object.assign(Slots.prototype, { tryAcquire: trySlot, acquire: waitForSlot });
      Object.assign(Limiter.prototype, { tryAcquire: tryPlace, acquire: waitForPlace });
    },
  };
}
