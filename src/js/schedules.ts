export type Schedule = { readonly constant: { lr: number } };
