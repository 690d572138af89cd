(* SPDX-License-Identifier: MIT *)
(* The shuffle that lib/random uses for small n.

   In words. Start with 0, 1, ..., n-1. For i from n-1 down to 0, choose j
   uniformly in [0,i] and exchange the values at i and j. Of the n! sequences of
   choices, exactly one leads to each of the n! orders. So with uniform choices
   every order is equally likely. (The last step, i = 0, has one choice and
   changes nothing; programs leave it out.)

   The method: Fisher and Yates 1938; in this form Durstenfeld 1964. *)

From Coq Require Import Arith Lia List Permutation.
From lade Require Import counting.
Import ListNotations.

(* An array is a function from positions to values. *)
Definition flip (i j k : nat) : nat :=
  if k =? i then j else if k =? j then i else k.

Definition exchange (f : nat -> nat) (i j : nat) : nat -> nat :=
  fun k => f (flip i j k).

(* Positions m-1, ..., 0 are still to be filled. *)
Fixpoint shuffle (m : nat) (f : nat -> nat) (js : list nat) : nat -> nat :=
  match m, js with
  | S i, j :: r => shuffle i (exchange f i j) r
  | _, _ => f
  end.

(* All sequences of choices. *)
Fixpoint choices (m : nat) : list (list nat) :=
  match m with
  | 0 => [[]]
  | S i => flat_map (fun j => map (cons j) (choices i)) (seq 0 (S i))
  end.

Definition order (n : nat) (js : list nat) : list nat :=
  map (shuffle n (fun k => k) js) (seq 0 n).

Lemma flip_flip i j k : flip i j (flip i j k) = k.
Proof.
  unfold flip. destruct (Nat.eqb_spec k i); [| destruct (Nat.eqb_spec k j)];
    repeat match goal with |- context [?a =? ?b] => destruct (Nat.eqb_spec a b) end;
    congruence.
Qed.

Lemma flip_below m i j k : i < m -> j < m -> k < m -> flip i j k < m.
Proof. intros. unfold flip. destruct (k =? i), (k =? j); assumption. Qed.

Lemma choices_step m js :
  In js (choices (S m)) <-> exists j r, js = j :: r /\ j <= m /\ In r (choices m).
Proof.
  cbn [choices]. rewrite in_flat_map. split.
  - intros (j & Hj%in_seq & (r & <- & Hr)%in_map_iff).
    exists j, r. repeat split; [lia | assumption].
  - intros (j & r & -> & Hj & Hr). exists j. rewrite in_seq.
    split; [lia | apply in_map; assumption].
Qed.

Lemma choices_nodup m : NoDup (choices m).
Proof.
  induction m as [| m IH].
  - repeat constructor. intros [].
  - apply nodup_cons; [apply seq_NoDup | assumption].
Qed.

Lemma choices_length m : length (choices m) = fact m.
Proof.
  induction m as [| m IH]; [reflexivity |].
  transitivity (count (fun _ : list nat => true) (choices (S m))).
  { rewrite count_const. reflexivity. }
  cbn [choices]. rewrite count_flat_map.
  rewrite (total_ext _ (fun _ => if true then fact m else 0)).
  - rewrite (total_if (fun _ => true)), count_const, seq_length. reflexivity.
  - intros j _. rewrite count_const, map_length. assumption.
Qed.

(* Positions from m on are not touched again. *)
Lemma shuffle_done m : forall f js k,
  In js (choices m) -> m <= k -> shuffle m f js k = f k.
Proof.
  induction m as [| m IH]; intros f js k H Hk; [reflexivity |].
  apply choices_step in H as (j & r & -> & Hj & Hr). cbn [shuffle].
  rewrite IH by (assumption || lia). unfold exchange, flip.
  destruct (Nat.eqb_spec k m); [lia |]. destruct (Nat.eqb_spec k j); [lia |].
  reflexivity.
Qed.

Definition distinct (m : nat) (f : nat -> nat) : Prop :=
  forall x y, x < m -> y < m -> f x = f y -> x = y.

Lemma distinct_exchange m f j :
  j <= m -> distinct (S m) f -> distinct m (exchange f m j).
Proof.
  intros Hj D x y Hx Hy E. apply D in E; [| apply flip_below; lia ..].
  apply (f_equal (flip m j)) in E. rewrite !flip_flip in E. assumption.
Qed.

(* Step i puts the chosen value at position i permanently. *)
Lemma shuffle_top m f j r :
  In r (choices m) -> shuffle (S m) f (j :: r) m = f j.
Proof.
  intros Hr. cbn [shuffle]. rewrite shuffle_done by (assumption || lia).
  unfold exchange, flip. rewrite Nat.eqb_refl. reflexivity.
Qed.

Lemma shuffle_injective m : forall f js js',
  distinct m f -> In js (choices m) -> In js' (choices m) ->
  (forall k, k < m -> shuffle m f js k = shuffle m f js' k) -> js = js'.
Proof.
  induction m as [| m IH]; intros f js js' D H H' E.
  - destruct H as [<- | []], H' as [<- | []]. reflexivity.
  - apply choices_step in H as (j & r & -> & Hj & Hr).
    apply choices_step in H' as (j' & r' & -> & Hj' & Hr').
    assert (j = j') as <-.
    { apply D; [lia .. |]. rewrite <- (shuffle_top m f j r Hr).
      rewrite <- (shuffle_top m f j' r' Hr'). apply E. lia. }
    f_equal. apply (IH (exchange f m j)); auto using distinct_exchange.
    intros k Hk. apply (E k). lia.
Qed.

(* Every arrangement g of the values of f can be reached. *)
Lemma shuffle_reaches m : forall f g,
  distinct m g -> (forall k, k < m -> exists j, j < m /\ f j = g k) ->
  exists js, In js (choices m) /\ forall k, k < m -> shuffle m f js k = g k.
Proof.
  induction m as [| m IH]; intros f g D V.
  - exists []. split; [cbn; auto | lia].
  - destruct (V m) as (j & Hj & Ej); [lia |].
    destruct (IH (exchange f m j) g) as (r & Hr & Er).
    + intros x y Hx Hy. apply D; lia.
    + intros k Hk. destruct (V k) as (h & Hh & Eh); [lia |].
      assert (h <> j) by (intros ->; enough (k = m) by lia; apply D; lia || congruence).
      exists (flip m j h). unfold exchange. rewrite flip_flip.
      split; [| assumption]. unfold flip.
      destruct (Nat.eqb_spec h m); [lia |]. destruct (Nat.eqb_spec h j); lia.
    + exists (j :: r). split; [apply choices_step; exists j, r; repeat split; auto; lia |].
      intros k Hk. destruct (Nat.eq_dec k m) as [-> | N].
      * rewrite shuffle_top by assumption. assumption.
      * cbn [shuffle]. apply Er. lia.
Qed.

Lemma shuffle_values m : forall f js n,
  m <= n -> In js (choices m) -> (forall k, k < n -> f k < n) ->
  forall k, k < n -> shuffle m f js k < n.
Proof.
  induction m as [| m IH]; intros f js n Hm H V k Hk; [auto |].
  apply choices_step in H as (j & r & -> & Hj & Hr). cbn [shuffle].
  apply IH; auto; [lia |]. intros h Hh. apply V, flip_below; lia.
Qed.

Lemma shuffle_distinct m : forall f js n,
  m <= n -> In js (choices m) -> distinct n f -> distinct n (shuffle m f js).
Proof.
  induction m as [| m IH]; intros f js n Hm H D; [assumption |].
  apply choices_step in H as (j & r & -> & Hj & Hr). cbn [shuffle].
  apply IH; auto; [lia |]. intros x y Hx Hy E.
  apply D in E; [| apply flip_below; lia ..].
  apply (f_equal (flip m j)) in E. rewrite !flip_flip in E. assumption.
Qed.

(* Whatever the choices, the result is an order of 0, ..., n-1. *)
Theorem shuffle_is_order n js :
  In js (choices n) -> Permutation (order n js) (seq 0 n).
Proof.
  intros H. unfold order.
  assert (D : distinct n (shuffle n (fun k => k) js)).
  { apply shuffle_distinct; auto. intros x y _ _ E. assumption. }
  apply NoDup_Permutation_bis.
  - assert (G : forall l, incl l (seq 0 n) -> NoDup l ->
                NoDup (map (shuffle n (fun k => k) js) l)).
    { induction l as [| x l IH]; intros I N; cbn; [constructor |].
      inversion N as [| ? ? Nx Nl]; subst. constructor.
      - intros (y & E & Hy)%in_map_iff. apply D in E; [congruence | |].
        + specialize (I y (or_intror Hy)). apply in_seq in I. lia.
        + specialize (I x (or_introl eq_refl)). apply in_seq in I. lia.
      - apply IH; [intros y Hy; apply I; right |]; assumption. }
    apply G; [apply incl_refl | apply seq_NoDup].
  - rewrite map_length. auto.
  - intros y (k & <- & Hk%in_seq)%in_map_iff. apply in_seq.
    pose proof (shuffle_values n (fun k => k) js n (le_n n) H (fun _ L => L) k). lia.
Qed.

Lemma order_nth n js k : k < n -> nth k (order n js) 0 = shuffle n (fun k => k) js k.
Proof.
  intros H. unfold order.
  rewrite (nth_indep _ 0 (shuffle n (fun k => k) js 0))
    by (rewrite map_length, seq_length; assumption).
  rewrite map_nth, seq_nth by assumption. reflexivity.
Qed.

Definition same (l l' : list nat) : bool :=
  if list_eq_dec Nat.eq_dec l l' then true else false.

(* Each order comes from exactly one of the n! sequences of choices. *)
Theorem shuffle_uniform n l :
  Permutation l (seq 0 n) ->
  count (fun js => same (order n js) l) (choices n) = 1 /\
  length (choices n) = fact n.
Proof.
  intros P. split; [| apply choices_length].
  assert (L : length l = n) by (rewrite (Permutation_length P); apply seq_length).
  assert (ND : NoDup l)
    by (apply (Permutation_NoDup (Permutation_sym P)), seq_NoDup).
  destruct (shuffle_reaches n (fun k => k) (fun k => nth k l 0)) as (js & H & E).
  - intros x y Hx Hy. apply (proj1 (NoDup_nth l 0) ND); lia.
  - intros k Hk. exists (nth k l 0). split; [| reflexivity].
    assert (I : In (nth k l 0) (seq 0 n))
      by (apply (Permutation_in _ P), nth_In; lia).
    apply in_seq in I. lia.
  - apply (count_unique _ js); [apply choices_nodup | assumption | |].
    + unfold same. destruct (list_eq_dec Nat.eq_dec (order n js) l) as [| N];
        [reflexivity |]. destruct N. apply (nth_ext _ _ 0 0).
      * unfold order. rewrite map_length, seq_length. auto.
      * unfold order at 1. rewrite map_length, seq_length. intros k Hk.
        rewrite order_nth by assumption. auto.
    + intros js' H' S'. unfold same in S'.
      destruct (list_eq_dec Nat.eq_dec (order n js') l) as [<- |]; [| discriminate].
      apply (shuffle_injective n (fun k => k)); auto.
      * intros x y _ _ Exy. assumption.
      * intros k Hk. rewrite E, order_nth by assumption. reflexivity.
Qed.

(* Choosing j among all n positions at each step, a well-known mistake, cannot
   be uniform for n = 3: 27 sequences do not divide evenly among 6 orders. *)
Example careless_shuffle : 3 ^ 3 mod fact 3 <> 0.
Proof. discriminate. Qed.
