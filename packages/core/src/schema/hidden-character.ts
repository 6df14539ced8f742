/**
 * Whether a text holds what nobody sees or can tell from something else: controls, characters that show as nothing, and blanks
 * other than the ordinary space. A rule with one would match something else than it seems to.
 */
export function hasHiddenCharacter(text: string): boolean {
  return /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u.test(text);
}
