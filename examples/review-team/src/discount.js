export function discounted(price, percent) {
  return price - price * percent;
}
