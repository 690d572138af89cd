(* SPDX-License-Identifier: MIT *)
(* The keyed bijection of [0,n) in lib/random.

   In words. Pick a and b with a*b >= n and write a number i < a*b as the pair
   (i / b, i mod b). A round adds a function of one half to the other half:
   even rounds change the left half modulo a, odd rounds the right half modulo
   b. Whatever the round functions are, and however many rounds there are, this
   is a bijection of [0,a*b): subtracting in the opposite order undoes it. To
   stay inside [0,n), repeat it until the value is below n ("cycle walking").
   That takes at most a*b - n + 1 steps, and is a bijection of [0,n).

   So no choice of key, round function or number of rounds can lose or repeat
   a sample. How random the order looks is a different question, left to tests.

   Feistel networks: Luby and Rackoff 1988. Unequal halves modulo a and b, and
   cycle walking: Black and Rogaway 2002. *)

From Coq Require Import Arith Lia List Permutation.
Import ListNotations.

(* A function that keeps the members of a list apart keeps it without repeats. *)
Lemma map_nodup (f : nat -> nat) (l : list nat) :
  (forall x y, In x l -> In y l -> f x = f y -> x = y) ->
  NoDup l -> NoDup (map f l).
Proof.
  intros inj ND. induction ND as [| x l Hx ND IH]; cbn; constructor.
  - intros (y & E & Hy)%in_map_iff. apply inj in E; cbn; auto. congruence.
  - apply IH. intros y z Hy Hz. apply inj; cbn; auto.
Qed.

(* f and g map [0,n) into itself and undo each other there. *)
Definition inverse_on (n : nat) (f g : nat -> nat) : Prop :=
  (forall x, x < n -> f x < n /\ g (f x) = x) /\
  (forall x, x < n -> g x < n /\ f (g x) = x).

Lemma inverse_on_sym n f g : inverse_on n f g -> inverse_on n g f.
Proof. intros [H1 H2]; split; assumption. Qed.

(* The same statement with lists: 0, 1, ..., n-1 come out in another order,
   each exactly once. *)
Lemma inverse_on_lists n f g :
  inverse_on n f g -> Permutation (map f (seq 0 n)) (seq 0 n).
Proof.
  intros [Hf Hg]. apply NoDup_Permutation.
  - apply map_nodup; [| apply seq_NoDup].
    intros x y Hx%in_seq Hy%in_seq E.
    destruct (Hf x) as [_ Ex]; [lia |]. destruct (Hf y) as [_ Ey]; [lia |].
    congruence.
  - apply seq_NoDup.
  - intros y. rewrite in_map_iff, in_seq. split.
    + intros (x & <- & Hx%in_seq). destruct (Hf x); lia.
    + intros Hy. destruct (Hg y) as [H1 H2]; [lia |].
      exists (g y). rewrite in_seq. split; [assumption | lia].
Qed.

(* ---- One half: adding modulo a, undone by subtracting modulo a ---- *)

Definition add (a x f : nat) : nat := (x + f) mod a.
Definition sub (a x f : nat) : nat := (x + (a - f mod a)) mod a.

Lemma add_below a x f : x < a -> add a x f < a.
Proof. intros H. apply Nat.mod_upper_bound. lia. Qed.

Lemma sub_below a x f : x < a -> sub a x f < a.
Proof. intros H. apply Nat.mod_upper_bound. lia. Qed.

(* What both directions need: x plus a whole turn is x. *)
Lemma whole_turn a x f :
  x < a -> (x + f + (a - f mod a)) mod a = x.
Proof.
  intros H. assert (Ha : a <> 0) by lia.
  pose proof (Nat.mod_upper_bound f a Ha).
  pose proof (Nat.div_mod f a Ha).
  replace (x + f + (a - f mod a)) with (x + (f / a + 1) * a) by nia.
  rewrite Nat.mod_add by lia. apply Nat.mod_small; assumption.
Qed.

Lemma sub_add a x f : x < a -> sub a (add a x f) f = x.
Proof.
  intros H. unfold sub, add. rewrite Nat.add_mod_idemp_l by lia.
  apply whole_turn; assumption.
Qed.

Lemma add_sub a x f : x < a -> add a (sub a x f) f = x.
Proof.
  intros H. unfold sub, add. rewrite Nat.add_mod_idemp_l by lia.
  rewrite <- (whole_turn a x f H) at 2. f_equal. lia.
Qed.

(* The C code adds f < a and subtracts a once when that is needed: the same
   numbers without a division. *)
Definition reduce (a x : nat) : nat := if a <=? x then x - a else x.

Lemma reduce_mod a x : 0 < a -> x < 2 * a -> x mod a = reduce a x.
Proof.
  intros Ha H. unfold reduce. destruct (Nat.leb_spec a x).
  - symmetry. apply Nat.mod_unique with (q := 1); lia.
  - apply Nat.mod_small. assumption.
Qed.

Theorem round_without_division a x f :
  x < a -> f < a ->
  add a x f = reduce a (x + f) /\ sub a x f = reduce a (x + (a - f)).
Proof.
  intros Hx Hf. unfold add, sub. rewrite (Nat.mod_small f a) by assumption.
  split; apply reduce_mod; lia.
Qed.

(* ---- The network ---- *)

Section Network.

Variables a b : nat.
Variable F : nat -> nat -> nat. (* F i is the round function of round i *)

Definition state : Type := nat * nat.
Definition valid (s : state) : Prop := fst s < a /\ snd s < b.

Definition round (i : nat) (s : state) : state :=
  let (l, r) := s in
  if Nat.even i then (add a l (F i r), r) else (l, add b r (F i l)).

Definition unround (i : nat) (s : state) : state :=
  let (l, r) := s in
  if Nat.even i then (sub a l (F i r), r) else (l, sub b r (F i l)).

(* Rounds 0, 1, ..., k-1; and back, from k-1 down to 0. *)
Fixpoint network (k : nat) (s : state) : state :=
  match k with 0 => s | S i => round i (network i s) end.

Fixpoint unnetwork (k : nat) (s : state) : state :=
  match k with 0 => s | S i => unnetwork i (unround i s) end.

(* Every round is a bijection of the valid states; unround is its inverse. *)
Theorem round_bijective i s :
  valid s ->
  (valid (round i s) /\ unround i (round i s) = s) /\
  (valid (unround i s) /\ round i (unround i s) = s).
Proof.
  destruct s as [l r]. unfold valid, round, unround. cbn [fst snd].
  intros [Hl Hr]. destruct (Nat.even i); cbn [fst snd];
    rewrite ?sub_add, ?add_sub by assumption;
    auto using add_below, sub_below.
Qed.

Lemma network_back k s :
  valid s -> valid (network k s) /\ unnetwork k (network k s) = s.
Proof.
  intros H. induction k as [| k [IHv IHe]]; cbn [network unnetwork]; [auto |].
  destruct (round_bijective k _ IHv) as [[H1 H2] _].
  rewrite H2. auto.
Qed.

Lemma network_forth k s :
  valid s -> valid (unnetwork k s) /\ network k (unnetwork k s) = s.
Proof.
  revert s. induction k as [| k IH]; intros s H; cbn [network unnetwork]; [auto |].
  destruct (round_bijective k s H) as [_ [H1 H2]].
  destruct (IH _ H1) as [H3 H4]. rewrite H4. auto.
Qed.

(* ---- Numbers as pairs ---- *)

Definition encode (i : nat) : state := (i / b, i mod b).
Definition decode (s : state) : nat := fst s * b + snd s.

Lemma encode_valid i : i < a * b -> valid (encode i).
Proof.
  intros H. assert (b <> 0) by nia. split; cbn [encode fst snd].
  - apply Nat.div_lt_upper_bound; lia.
  - apply Nat.mod_upper_bound; assumption.
Qed.

Lemma decode_below s : valid s -> decode s < a * b.
Proof. destruct s as [l r]. unfold valid, decode. cbn [fst snd]. nia. Qed.

Lemma decode_encode i : i < a * b -> decode (encode i) = i.
Proof.
  intros H. assert (Hb : b <> 0) by nia.
  unfold decode, encode. cbn [fst snd].
  pose proof (Nat.div_mod i b Hb). lia.
Qed.

Lemma encode_decode s : valid s -> encode (decode s) = s.
Proof.
  destruct s as [l r]. unfold valid, encode, decode. cbn [fst snd].
  intros [_ Hr]. f_equal.
  - rewrite Nat.div_add_l by lia. rewrite Nat.div_small; lia.
  - rewrite Nat.add_comm, Nat.mod_add by lia. apply Nat.mod_small; assumption.
Qed.

Definition feistel (k i : nat) : nat := decode (network k (encode i)).
Definition unfeistel (k i : nat) : nat := decode (unnetwork k (encode i)).

(* For all round functions and any number k of rounds, the network is a
   bijection of [0,a*b), and running the rounds backwards is its inverse. *)
Theorem feistel_bijective k : inverse_on (a * b) (feistel k) (unfeistel k).
Proof.
  unfold feistel, unfeistel.
  split; intros x Hx; pose proof (encode_valid x Hx) as V.
  - destruct (network_back k _ V) as [H1 H2]. split.
    + apply decode_below; assumption.
    + rewrite encode_decode, H2 by assumption. apply decode_encode; assumption.
  - destruct (network_forth k _ V) as [H1 H2]. split.
    + apply decode_below; assumption.
    + rewrite encode_decode, H2 by assumption. apply decode_encode; assumption.
Qed.

End Network.

(* ---- Cycle walking ---- *)

Section Walk.

Variables n m : nat.
Hypothesis n_le_m : n <= m.

(* Apply p, again and again, until the value is below n. The fuel bounds the
   number of steps; None means that it ran out. *)
Fixpoint walk (p : nat -> nat) (fuel x : nat) : option nat :=
  match fuel with
  | 0 => None
  | S k => if p x <? n then Some (p x) else walk p k (p x)
  end.

Fixpoint iterate (p : nat -> nat) (k x : nat) : nat :=
  match k with 0 => x | S i => p (iterate p i x) end.

Lemma iterate_inside p k x : iterate p k (p x) = iterate p (S k) x.
Proof. induction k as [| k IH]; cbn; [| rewrite IH]; reflexivity. Qed.

Lemma iterate_add p j k x : iterate p (j + k) x = iterate p j (iterate p k x).
Proof. induction j as [| j IH]; cbn; [| rewrite IH]; reflexivity. Qed.

(* y is the first value below n after x, and it comes at step j. *)
Definition first_return (p : nat -> nat) (x j y : nat) : Prop :=
  1 <= j /\ y = iterate p j x /\ y < n /\
  forall t, 1 <= t < j -> n <= iterate p t x.

Lemma walk_finds p j : forall fuel x y,
  first_return p x j y -> j <= fuel -> walk p fuel x = Some y.
Proof.
  induction j as [| j IH]; intros fuel x y (Hj & Ey & Hy & Hout) Hf; [lia |].
  destruct fuel as [| fuel]; [lia |]. cbn [walk].
  destruct (Nat.ltb_spec (p x) n) as [Hlt | Hge].
  - destruct j as [| j]; [cbn in Ey; congruence |].
    specialize (Hout 1). cbn in Hout. lia.
  - destruct j as [| j]; [cbn in Ey; lia |].
    apply IH; [| lia]. split; [lia |]. rewrite iterate_inside.
    split; [assumption |]. split; [assumption |].
    intros t Ht. rewrite iterate_inside. apply Hout. lia.
Qed.

Section Bijection.

Variables p q : nat -> nat.
Hypothesis pq : inverse_on m p q.

Lemma iterate_below k x : x < m -> iterate p k x < m.
Proof. intros H. induction k as [| k IH]; cbn; [| apply pq]; assumption. Qed.

Lemma iterate_back k x : x < m -> iterate q k (iterate p k x) = x.
Proof.
  intros H. induction k as [| k IH]; [reflexivity |].
  rewrite <- (iterate_inside q). cbn [iterate].
  destruct pq as [Hp _]. destruct (Hp (iterate p k x)) as [_ E].
  - apply iterate_below; assumption.
  - rewrite E. assumption.
Qed.

Lemma iterate_cancel k x y :
  x < m -> y < m -> iterate p k x = iterate p k y -> x = y.
Proof.
  intros Hx Hy E. rewrite <- (iterate_back k x Hx), E.
  apply iterate_back; assumption.
Qed.

(* While the walk stays outside [0,n) it cannot meet a value twice: else x
   itself would be outside. So at most m - n steps are spent there. *)
Lemma orbit_nodup x k :
  x < n -> (forall t, 1 <= t <= k -> n <= iterate p t x) ->
  NoDup (map (fun t => iterate p t x) (seq 1 k)).
Proof.
  intros Hx Hout. apply map_nodup; [| apply seq_NoDup].
  assert (W : forall s t, 1 <= s -> s < t -> t <= k ->
                          iterate p s x <> iterate p t x).
  { intros s t Hs Hst Ht E. replace t with (s + (t - s)) in E by lia.
    rewrite iterate_add in E. apply iterate_cancel in E.
    - specialize (Hout (t - s)). lia.
    - lia.
    - apply iterate_below. lia. }
  intros s t Hs%in_seq Ht%in_seq E.
  destruct (Nat.lt_trichotomy s t) as [L | [L | L]]; [| assumption |].
  - exfalso. apply (W s t); [lia .. | assumption].
  - exfalso. apply (W t s); [lia .. | symmetry; assumption].
Qed.

Lemma outside_short x k :
  x < n -> (forall t, 1 <= t <= k -> n <= iterate p t x) -> k <= m - n.
Proof.
  intros Hx Hout. pose proof (orbit_nodup x k Hx Hout) as ND.
  assert (I : incl (map (fun t => iterate p t x) (seq 1 k)) (seq n (m - n))).
  { intros y (t & <- & Ht%in_seq)%in_map_iff. rewrite in_seq.
    specialize (Hout t). pose proof (iterate_below t x). lia. }
  pose proof (NoDup_incl_length ND I) as L.
  rewrite map_length, !seq_length in L. assumption.
Qed.

(* Either the walk returns within k steps, or it is outside for all of them. *)
Lemma returns_or_outside x k :
  (exists j y, j <= k /\ first_return p x j y) \/
  (forall t, 1 <= t <= k -> n <= iterate p t x).
Proof.
  induction k as [| k [(j & y & Hj & R) | Hout]].
  - right. intros t Ht. lia.
  - left. exists j, y. split; [lia | assumption].
  - destruct (Nat.lt_ge_cases (iterate p (S k) x) n) as [L | G].
    + left. exists (S k), (iterate p (S k) x). repeat split; try lia.
      intros t Ht. apply Hout. lia.
    + right. intros t Ht. destruct (Nat.eq_dec t (S k)) as [-> | ]; [assumption |].
      apply Hout. lia.
Qed.

Lemma returns x :
  x < n -> exists j y, j <= m - n + 1 /\ first_return p x j y.
Proof.
  intros Hx. destruct (returns_or_outside x (m - n + 1)) as [R | Hout];
    [assumption |].
  pose proof (outside_short x _ Hx Hout). lia.
Qed.

(* The way back from y visits the same values in the opposite order. *)
Lemma return_back x j y :
  x < n -> first_return p x j y -> first_return q y j x.
Proof.
  intros Hx (Hj & -> & Hy & Hout). split; [assumption |].
  split; [symmetry; apply iterate_back; lia |]. split; [assumption |].
  intros t Ht. replace j with (t + (j - t)) by lia.
  rewrite iterate_add, iterate_back by (apply iterate_below; lia).
  apply Hout. lia.
Qed.

End Bijection.

(* Walking as a total function: m - n + 1 steps are always enough. *)
Definition walked (p : nat -> nat) (x : nat) : nat :=
  match walk p (m - n + 1) x with Some y => y | None => x end.

Lemma walked_returns p x j y :
  first_return p x j y -> j <= m - n + 1 -> walked p x = y.
Proof.
  intros R Hj. unfold walked. rewrite (walk_finds p j _ x y R Hj). reflexivity.
Qed.

(* From any x < n the walk ends within m - n + 1 steps, below n; more fuel does
   not change the result, so a loop without a bound computes the same. *)
Theorem walk_terminates p q x :
  inverse_on m p q -> x < n ->
  walked p x < n /\
  forall fuel, m - n + 1 <= fuel -> walk p fuel x = Some (walked p x).
Proof.
  intros pq Hx. destruct (returns p q pq x Hx) as (j & y & Hj & R).
  rewrite (walked_returns p x j y R Hj). split; [apply R |].
  intros fuel Hf. apply (walk_finds p j); [assumption | lia].
Qed.

(* Walking a bijection of [0,m) is a bijection of [0,n); walking its inverse
   is the inverse. *)
Theorem walk_bijective p q :
  inverse_on m p q -> inverse_on n (walked p) (walked q).
Proof.
  assert (half : forall f g, inverse_on m f g -> forall x, x < n ->
                 walked f x < n /\ walked g (walked f x) = x).
  { intros f g fg x Hx. destruct (returns f g fg x Hx) as (j & y & Hj & R).
    rewrite (walked_returns f x j y R Hj). split; [apply R |].
    apply (walked_returns g y j x); [| assumption].
    apply (return_back f g fg x j y Hx R). }
  intros pq. split; apply half; [| apply inverse_on_sym]; assumption.
Qed.

End Walk.

(* ---- The grid ---- *)

(* The search for the number of rows: from the highest bit down, keep a bit
   when the square stays below n. Then add one. *)
Fixpoint root_from (bits s n : nat) : nat :=
  match bits with
  | 0 => s
  | S k => root_from k (if (s + 2 ^ k) * (s + 2 ^ k) <? n then s + 2 ^ k else s) n
  end.

Definition rows (bits n : nat) : nat := root_from bits 0 n + 1.
Definition columns (bits n : nat) : nat := (n + rows bits n - 1) / rows bits n.

Lemma root_from_spec n bits : forall s,
  s * s < n <= (s + 2 ^ bits) * (s + 2 ^ bits) ->
  let r := root_from bits s n in r * r < n <= (r + 1) * (r + 1).
Proof.
  induction bits as [| k IH]; intros s H; [assumption |]. cbn [root_from].
  apply IH. cbn [Nat.pow] in H.
  destruct (Nat.ltb_spec ((s + 2 ^ k) * (s + 2 ^ k)) n).
  - replace (s + 2 ^ k + 2 ^ k) with (s + (2 ^ k + (2 ^ k + 0))) by lia. lia.
  - lia.
Qed.

(* The grid holds n, and fewer than sqrt(n) of its cells are unused: of the n
   walks, fewer than sqrt(n) need a second step. *)
Theorem grid_fits bits n :
  1 <= n <= 2 ^ bits * 2 ^ bits ->
  let cells := rows bits n * columns bits n in
  n <= cells /\ (cells - n) * (cells - n) < n.
Proof.
  intros H. destruct (root_from_spec n bits 0) as [H1 H2]; [cbn; lia |].
  unfold columns, rows. set (r := root_from bits 0 n) in *. cbn zeta.
  replace (n + (r + 1) - 1) with (n + r) by lia.
  assert (N : r + 1 <> 0) by lia.
  pose proof (Nat.div_mod (n + r) (r + 1) N) as D.
  pose proof (Nat.mod_upper_bound (n + r) (r + 1) N) as B.
  set (c := (n + r) / (r + 1)) in *. set (e := (n + r) mod (r + 1)) in *.
  assert ((r + 1) * c - n = r - e) as -> by lia. split; [lia |].
  assert (r - e <= r) by lia. nia.
Qed.

(* ---- Both together ---- *)

(* The permutation of [0,n): k rounds on halves of size a and b, and walking. *)
Definition permute (n a b : nat) (F : nat -> nat -> nat) (k i : nat) : nat :=
  walked n (a * b) (feistel a b F k) i.

Definition unpermute (n a b : nat) (F : nat -> nat -> nat) (k i : nat) : nat :=
  walked n (a * b) (unfeistel a b F k) i.

(* For every n, every a and b with a*b >= n, all round functions (so, every
   key) and any number of rounds: a bijection of [0,n), with its inverse. *)
Theorem permute_bijective n a b F k :
  n <= a * b -> inverse_on n (permute n a b F k) (unpermute n a b F k).
Proof. intros H. apply walk_bijective; [assumption | apply feistel_bijective]. Qed.

(* With the rows and columns that the library takes. *)
Theorem permute_on_grid bits n F k :
  1 <= n <= 2 ^ bits * 2 ^ bits ->
  inverse_on n (permute n (rows bits n) (columns bits n) F k)
               (unpermute n (rows bits n) (columns bits n) F k).
Proof. intros H. apply permute_bijective, grid_fits. assumption. Qed.

(* An epoch, as a list: each of 0, ..., n-1 exactly once. *)
Theorem permute_epoch n a b F k :
  n <= a * b -> Permutation (map (permute n a b F k) (seq 0 n)) (seq 0 n).
Proof.
  intros H. apply (inverse_on_lists n _ (unpermute n a b F k)).
  apply permute_bijective; assumption.
Qed.

(* Ranks r = 0, ..., R-1 that take the positions r, r+R, r+2R, ... of an epoch
   share nothing: equal samples mean the same rank and the same step. *)
Theorem permute_shards n a b F k R r r' t t' :
  n <= a * b -> r < R -> r' < R -> r + t * R < n -> r' + t' * R < n ->
  permute n a b F k (r + t * R) = permute n a b F k (r' + t' * R) ->
  r = r' /\ t = t'.
Proof.
  intros Hn Hr Hr' H H' E.
  destruct (permute_bijective n a b F k Hn) as [Hp _].
  destruct (Hp _ H) as [_ E1]. destruct (Hp _ H') as [_ E2].
  rewrite E, E2 in E1.
  assert (r = r').
  { apply (f_equal (fun x => x mod R)) in E1.
    rewrite !Nat.mod_add, !Nat.mod_small in E1 by lia. congruence. }
  subst r'. split; [reflexivity | nia].
Qed.

(* A small instance, computed: 7 of 3*3 numbers, 5 rounds. *)
Example permute_seven :
  map (permute 7 3 3 (fun i x => 5 * x * x + i + 1) 5) (seq 0 7) =
  [5; 4; 1; 3; 6; 0; 2].
Proof. reflexivity. Qed.
