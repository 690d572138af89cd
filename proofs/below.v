(* SPDX-License-Identifier: MIT *)
(* The bounded integer of lib/random.

   In words. A word x is uniform in [0,W), W = 2^w. To get a number in [0,n),
   1 <= n <= W, take the product x*n: its high word x*n / W is the result, and
   x is rejected when the low word x*n mod W is smaller than W mod n. Then
   every result in [0,n) comes from exactly floor(W/n) words, so the accepted
   results are exactly uniform. Rejected are W mod n words, fewer than half.

   The method is that of Lemire 2019, "Fast random integer generation in an
   interval". The proof: the products for one result fill an interval of n *
   floor(W/n) consecutive numbers, and that many hold floor(W/n) multiples of n. *)

From Coq Require Import Arith Lia List Permutation.
From lade Require Import counting.
Import ListNotations.

Section Below.

Variables W n : nat.
Hypothesis n_pos : 1 <= n.
Hypothesis n_le_W : n <= W.

Definition accepted (x : nat) : bool := W mod n <=? (x * n) mod W.
Definition result (x : nat) : nat := x * n / W.

(* The accepted words with result q, and the rejected words. *)
Definition words_for (q : nat) : list nat :=
  filter (fun x => accepted x && (result x =? q))%bool (seq 0 W).
Definition rejected : list nat :=
  filter (fun x => negb (accepted x)) (seq 0 W).

(* The first multiple of n at or above the start of q's interval. *)
Definition first_word (q : nat) : nat := (q * W + W mod n + (n - 1)) / n.

Lemma W_split : W = n * (W / n) + W mod n.
Proof. apply Nat.div_mod. lia. Qed.

Lemma rest_small : W mod n < n.
Proof. apply Nat.mod_upper_bound. lia. Qed.

(* Accepted with result q: the product lies in q's interval. *)
Lemma accepted_interval q x :
  accepted x = true /\ result x = q <->
  q * W + W mod n <= x * n < q * W + W.
Proof.
  unfold accepted, result. rewrite Nat.leb_le.
  pose proof rest_small. assert (HW : W <> 0) by lia.
  pose proof (Nat.div_mod (x * n) W HW) as D.
  pose proof (Nat.mod_upper_bound (x * n) W HW) as B. split.
  - intros [Ha <-]. lia.
  - intros [H1 H2]. assert (Eq : x * n / W = q).
    { symmetry. apply Nat.div_unique with (r := x * n - q * W); lia. }
    rewrite Eq in D. split; [lia | assumption].
Qed.

(* Rounding up: x*n >= A exactly when x >= ceil(A/n). *)
Lemma ceil_spec A x : A <= x * n <-> (A + (n - 1)) / n <= x.
Proof.
  assert (Hn : n <> 0) by lia.
  pose proof (Nat.div_mod (A + (n - 1)) n Hn) as D.
  pose proof (Nat.mod_upper_bound (A + (n - 1)) n Hn) as B.
  set (c := (A + (n - 1)) / n) in *. set (r := (A + (n - 1)) mod n) in *.
  split; intros H; nia.
Qed.

(* The words of one interval are consecutive, W/n of them. *)
Lemma interval_words q x :
  q * W + W mod n <= x * n < q * W + W <->
  first_word q <= x < first_word q + W / n.
Proof.
  unfold first_word. rewrite ceil_spec.
  pose proof (ceil_spec (q * W + W) x) as C.
  replace ((q * W + W + (n - 1)) / n)
    with ((q * W + W mod n + (n - 1)) / n + W / n) in C.
  - lia.
  - rewrite <- Nat.div_add by lia. f_equal. pose proof W_split. lia.
Qed.

Lemma words_below q x : q < n -> x * n < q * W + W -> x < W.
Proof. intros. nia. Qed.

Lemma words_for_are q :
  q < n -> Permutation (words_for q) (seq (first_word q) (W / n)).
Proof.
  intros Hq. apply NoDup_Permutation.
  - apply NoDup_filter, seq_NoDup.
  - apply seq_NoDup.
  - intros x. unfold words_for.
    rewrite filter_In, Bool.andb_true_iff, Nat.eqb_eq, accepted_interval.
    rewrite !in_seq, <- interval_words. split.
    + intros [_ H]. assumption.
    + intros H. split; [| assumption].
      pose proof (words_below q x Hq). lia.
Qed.

(* The product fits in two words. *)
Lemma below_no_overflow x : x < W -> x * n < W * W.
Proof. intros H. nia. Qed.

(* The result is below n, for every word. *)
Theorem below_in_range x : x < W -> result x < n.
Proof. intros H. apply Nat.div_lt_upper_bound; nia. Qed.

(* Each result in [0,n) is produced by exactly floor(W/n) accepted words. *)
Theorem below_uniform q : q < n -> length (words_for q) = W / n.
Proof.
  intros Hq. rewrite (Permutation_length (words_for_are q Hq)).
  apply seq_length.
Qed.

(* Two short cuts that programs take. The test needs W mod n only when the low
   word is below n; and W mod n can be had without a two-word division. *)
Theorem below_shortcut x :
  accepted x = ((n <=? (x * n) mod W) || (W mod n <=? (x * n) mod W))%bool.
Proof.
  unfold accepted. pose proof rest_small.
  destruct (Nat.leb_spec (W mod n) ((x * n) mod W));
    destruct (Nat.leb_spec n ((x * n) mod W)); cbn; lia || reflexivity.
Qed.

Theorem below_threshold : (W - n) mod n = W mod n.
Proof.
  replace W with (W - n + 1 * n) at 2 by lia.
  rewrite Nat.mod_add by lia. reflexivity.
Qed.

(* ---- How many words are rejected ---- *)

(* One more value. *)
Lemma filter_by_value (A : Type) (f : A -> bool) (v : A -> nat) k (l : list A) :
  length (filter (fun x => f x && (v x <? S k))%bool l) =
  length (filter (fun x => f x && (v x <? k))%bool l) +
  length (filter (fun x => f x && (v x =? k))%bool l).
Proof.
  induction l as [| x l IH]; [reflexivity |]. cbn [filter].
  destruct (f x); cbn [andb]; [| assumption].
  destruct (Nat.ltb_spec (v x) (S k)); destruct (Nat.ltb_spec (v x) k);
    destruct (Nat.eqb_spec (v x) k); cbn [length]; lia.
Qed.

Lemma accepted_upto k :
  k <= n ->
  length (filter (fun x => accepted x && (result x <? k))%bool (seq 0 W)) =
  k * (W / n).
Proof.
  induction k as [| k IH]; intros Hk.
  - induction (seq 0 W) as [| x l IHl]; [reflexivity |]. cbn [filter].
    replace (result x <? 0) with false by reflexivity.
    rewrite Bool.andb_false_r. assumption.
  - rewrite filter_by_value, IH by lia.
    fold (words_for k). rewrite below_uniform by lia. lia.
Qed.

Lemma accepted_count : length (filter accepted (seq 0 W)) = n * (W / n).
Proof.
  rewrite <- (accepted_upto n) by lia. f_equal.
  apply filter_ext_in. intros x Hx%in_seq.
  destruct (Nat.ltb_spec (result x) n) as [| H].
  - rewrite Bool.andb_true_r. reflexivity.
  - pose proof (below_in_range x). lia.
Qed.

(* Exactly W mod n words are rejected: fewer than n, and fewer than half of
   all, so that the expected number of attempts is below two. *)
Theorem below_rejects :
  length rejected = W mod n /\ W mod n < n /\ 2 * (W mod n) < W.
Proof.
  pose proof (count_negb accepted (seq 0 W)) as H.
  unfold count in H. rewrite accepted_count, seq_length in H. fold rejected in H.
  pose proof W_split. pose proof rest_small.
  assert (1 <= W / n) by (apply Nat.div_le_lower_bound; lia). nia.
Qed.

End Below.

(* The statement for words of w bits. *)
Theorem below_uniform_bits w n q :
  1 <= n <= 2 ^ w -> q < n -> length (words_for (2 ^ w) n q) = 2 ^ w / n.
Proof. intros [H1 H2]. apply below_uniform; assumption. Qed.

(* A small instance, computed: 4-bit words, n = 5. Three words for each result,
   and one rejected. *)
Example below_five :
  map (words_for 16 5) (seq 0 5) =
    [[1; 2; 3]; [4; 5; 6]; [7; 8; 9]; [10; 11; 12]; [13; 14; 15]] /\
  rejected 16 5 = [0].
Proof. split; reflexivity. Qed.

(* Without the rejection the results are not uniform: 4 words for 0, 3 for 1. *)
Example without_rejection :
  length (filter (fun x => result 16 5 x =? 0) (seq 0 16)) = 4 /\
  length (filter (fun x => result 16 5 x =? 1) (seq 0 16)) = 3.
Proof. split; reflexivity. Qed.
