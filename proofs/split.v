(* SPDX-License-Identifier: MIT *)
(* The coin of lib/split.

   In words. n items; each draws a number uniformly in [0,v), and goes to the
   train side when it is below u, that is with probability alpha = u/v. The draw
   does not depend on the item. Consider all v^n sequences of draws.
   - The number of those that give one particular train side depends only on how
     many items are in it. So, given its size, the train side is a uniform subset.
   - The number of those that put j of the c items of a class on the train side
     is C(c,j) u^j (v-u)^(c-j) v^(n-c): divided by v^n, the binomial probability.
   - Its mean is c * u/v.

   So the parts have the distribution of the whole in expectation, with binomial
   deviations: what is true of theorem T1 of Lin 2026. The binomial law of
   independent trials: Bernoulli 1713. *)

From Coq Require Import Arith Lia List.
From lade Require Import counting.
Import ListNotations.

Section Split.

Variables u v : nat.
Hypothesis u_le_v : u <= v.

Definition train (c : nat) : bool := c <? u.

(* The sides of all items; true stands for train. *)
Definition sides (xs : list nat) : list bool := map train xs.

Definition same_sides (p p' : list bool) : bool :=
  if list_eq_dec Bool.bool_dec p p' then true else false.

Definition size (p : list bool) : nat := count (fun side => side) p.

(* How many items of a class are on the train side; class is true of the items
   that belong to it. *)
Fixpoint train_of (class : list bool) (xs : list nat) : nat :=
  match class, xs with
  | b :: class, c :: xs => (if b && train c then 1 else 0)%bool + train_of class xs
  | _, _ => 0
  end.

Lemma train_below l : count train (seq 0 l) = Nat.min u l.
Proof.
  unfold count. induction l as [| l IH]; [rewrite Nat.min_0_r; reflexivity |].
  rewrite seq_S, filter_app, app_length, IH. cbn [filter Nat.add]. unfold train.
  destruct (Nat.ltb_spec l u); cbn [length]; lia.
Qed.

Lemma train_ways : count train (seq 0 v) = u.
Proof. rewrite train_below. lia. Qed.

Lemma test_ways : count (fun c => negb (train c)) (seq 0 v) = v - u.
Proof.
  pose proof (count_negb train (seq 0 v)) as H.
  rewrite seq_length, train_ways in H. lia.
Qed.

(* A sum over one draw that looks only at the side. *)
Lemma total_sides (K L : nat) :
  total (fun c => if train c then K else L) (seq 0 v) = u * K + (v - u) * L.
Proof.
  rewrite (total_ext _ (fun c => (if train c then K else 0) +
                                 (if negb (train c) then L else 0))).
  - rewrite total_plus, total_if.
    rewrite (total_if (fun c => negb (train c))), train_ways, test_ways. reflexivity.
  - intros c _. destruct (train c); cbn; lia.
Qed.

Lemma same_sides_cons a b p p' :
  same_sides (a :: p) (b :: p') = (Bool.eqb a b && same_sides p p')%bool.
Proof.
  unfold same_sides. destruct (list_eq_dec Bool.bool_dec p p') as [-> | N].
  - destruct (list_eq_dec Bool.bool_dec (a :: p') (b :: p')), a, b; cbn; congruence.
  - destruct (list_eq_dec Bool.bool_dec (a :: p) (b :: p')), a, b; cbn; congruence.
Qed.

Lemma size_below class : size class <= length class.
Proof. apply count_below. Qed.

(* The number of ways to get exactly the sides p. *)
Theorem split_sides p :
  count (fun xs => same_sides (sides xs) p) (picks v (length p)) =
  u ^ size p * (v - u) ^ (length p - size p).
Proof.
  induction p as [| b p IH]; [reflexivity |].
  cbn [length picks]. rewrite count_flat_map.
  set (K := count (fun xs => same_sides (sides xs) p) (picks v (length p))) in *.
  rewrite (total_ext _ (fun c => if train c then (if b then K else 0)
                                 else (if b then 0 else K))).
  - rewrite total_sides, IH.
    assert (B : size p <= length p) by apply size_below.
    destruct b; unfold size, count in *; cbn [filter length] in *.
    + cbn [Nat.pow Nat.sub]. lia.
    + rewrite Nat.sub_succ_l by assumption. cbn [Nat.pow]. lia.
  - intros c _. rewrite count_map.
    rewrite (count_ext _ (fun xs => Bool.eqb (train c) b && same_sides (sides xs) p)%bool).
    + destruct (train c), b; cbn [Bool.eqb andb];
        reflexivity || apply count_const.
    + intros xs. apply same_sides_cons.
Qed.

(* Given its size, the train side is a uniform subset. *)
Theorem split_uniform_subset p p' :
  length p = length p' -> size p = size p' ->
  count (fun xs => same_sides (sides xs) p) (picks v (length p)) =
  count (fun xs => same_sides (sides xs) p') (picks v (length p')).
Proof. intros L S. rewrite !split_sides, L, S. reflexivity. Qed.

(* For each class, the count on the train side is binomial. *)
Theorem split_binomial class : forall j,
  count (fun xs => train_of class xs =? j) (picks v (length class)) =
  choose (size class) j * u ^ j * (v - u) ^ (size class - j) *
  v ^ (length class - size class).
Proof.
  induction class as [| b class IH]; intros j.
  - destruct j; reflexivity.
  - cbn [length picks]. rewrite count_flat_map.
    pose proof (size_below class) as B.
    set (R := fun j => count (fun xs => train_of class xs =? j)
                             (picks v (length class))) in *.
    destruct b.
    + (* an item of the class: one more on the train side, or not *)
      change (size (true :: class)) with (S (size class)). cbn [Nat.sub].
      rewrite (total_ext _ (fun c => if train c
        then match j with 0 => 0 | S i => R i end else R j)).
      * rewrite total_sides. unfold R. destruct j as [| i].
        -- rewrite IH, !choose_zero. cbn [Nat.pow Nat.sub].
           rewrite Nat.sub_0_r. lia.
        -- rewrite !IH. cbn [choose Nat.sub Nat.pow].
           destruct (Nat.lt_ge_cases i (size class)) as [L | G].
           ++ replace (size class - i) with (S (size class - S i)) by lia.
              cbn [Nat.pow]. ring.
           ++ rewrite (choose_over _ (S i)) by lia. ring.
      * intros c _. rewrite count_map. cbn [train_of andb].
        destruct (train c); cbn [Nat.add].
        -- destruct j as [| i]; [exact (count_const _ false) | reflexivity].
        -- reflexivity.
    + (* another item: it may go anywhere *)
      change (size (false :: class)) with (size class).
      rewrite (total_ext _ (fun c => if train c then R j else R j)).
      * rewrite total_sides. unfold R. rewrite !IH.
        rewrite Nat.sub_succ_l by assumption. cbn [Nat.pow].
        rewrite <- Nat.mul_add_distr_r.
        replace (u + (v - u)) with v by lia. ring.
      * intros c _. rewrite count_map. cbn [train_of andb Nat.add].
        destruct (train c); reflexivity.
Qed.

(* The mean: c * u/v, stated without a division. *)
Theorem split_mean class :
  v * total (train_of class) (picks v (length class)) =
  size class * u * v ^ length class.
Proof.
  induction class as [| b class IH]; [cbn; lia |].
  cbn [length picks]. rewrite total_flat_map.
  set (T := total (train_of class) (picks v (length class))) in *.
  rewrite (total_ext _ (fun c =>
    if train c then (if b then v ^ length class + T else T) else T)).
  - rewrite total_sides. replace (size (b :: class))
      with ((if b then 1 else 0) + size class) by (destruct b; reflexivity).
    cbn [Nat.pow]. destruct b; nia.
  - intros c _. rewrite total_map. cbn [train_of].
    rewrite (total_plus (fun _ => if (b && train c)%bool then 1 else 0)).
    fold T. rewrite <- (count_total (fun _ => (b && train c)%bool)).
    rewrite count_const, picks_length. destruct b, (train c); reflexivity.
Qed.

End Split.

(* A small instance, computed: alpha = 2/3, a class of 3 among 4 items. Of the
   81 sequences 3, 18, 36 and 24 put 0, 1, 2 and 3 of them on the train side. *)
Example split_three_of_four :
  map (fun j => count (fun xs => train_of 2 [true; true; false; true] xs =? j)
                      (picks 3 4)) [0; 1; 2; 3] = [3; 18; 36; 24].
Proof. reflexivity. Qed.
